//! Names that people and agents give to things: parsed once, never checked again.
//!
//! Each type wraps a text that obeys the rules of its kind, so that no other part of the program asks again whether an
//! id is empty, too long or unprintable. The rules and their numbers are in [`super::limits`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::limits::{ID_BYTES_MAX, ID_CHARS_MAX, OWNER_CHARS_MAX};

/// Why a text cannot be what it was meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// There is no character in it.
    #[error("must not be empty")]
    Empty,
    /// It has more characters (Unicode scalar values) than its kind allows.
    #[error("must have at most {chars_max} characters")]
    TooManyChars {
        /// The most characters that its kind allows.
        chars_max: usize,
    },
    /// It has more UTF-8 bytes than its kind allows.
    #[error("must have at most {bytes_max} bytes in UTF-8")]
    TooManyBytes {
        /// The most bytes that its kind allows.
        bytes_max: usize,
    },
    /// It is `.` or `..`, which no URL path can carry.
    #[error("must not be '.' or '..', which no URL can carry")]
    Dots,
    /// It holds U+0000.
    #[error("must not hold the character U+0000")]
    Nul,
    /// It holds a control character (C0, DEL or C1).
    #[error("must not hold control characters")]
    Control,
}

pub(super) fn check_chars(text: &str, chars_max: usize) -> Result<(), TextFault> {
    if text.is_empty() {
        return Err(TextFault::Empty);
    }
    if text.len() > chars_max && text.chars().count() > chars_max {
        return Err(TextFault::TooManyChars { chars_max });
    }
    if text.contains('\0') {
        return Err(TextFault::Nul);
    }
    Ok(())
}

fn check_id(text: &str) -> Result<(), TextFault> {
    check_chars(text, ID_CHARS_MAX)?;
    if text.len() > ID_BYTES_MAX {
        return Err(TextFault::TooManyBytes { bytes_max: ID_BYTES_MAX });
    }
    if text == "." || text == ".." {
        return Err(TextFault::Dots);
    }
    check_printable(text)
}

fn check_owner(text: &str) -> Result<(), TextFault> {
    check_chars(text, OWNER_CHARS_MAX)?;
    check_printable(text)
}

fn check_printable(text: &str) -> Result<(), TextFault> {
    if text.chars().any(char::is_control) { Err(TextFault::Control) } else { Ok(()) }
}

macro_rules! parsed_text {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Parses the text.
            ///
            /// # Errors
            /// The rule that the text breaks.
            pub fn parse(text: impl AsRef<str>) -> Result<Self, TextFault> {
                let text = text.as_ref();
                $check(text)?;
                Ok(Self(text.into()))
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = TextFault;

            fn try_from(text: String) -> Result<Self, TextFault> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}
pub(super) use parsed_text;

parsed_text!(
    /// A task's id, unique within its list: 1–256 characters, at most 512 bytes, printable, not `.` or `..`.
    TaskId,
    check_id
);
parsed_text!(
    /// The id of one conversation or job of agents, by the rules of [`TaskId`].
    ThreadId,
    check_id
);
parsed_text!(
    /// The id of whom a thread belongs to, by the rules of [`TaskId`].
    ResourceId,
    check_id
);
parsed_text!(
    /// Who did something, as the history names it, by the rules of [`TaskId`].
    Actor,
    check_id
);
parsed_text!(
    /// Who works on a task: 1–256 printable characters.
    Owner,
    check_owner
);

impl TaskId {
    /// Wraps a text that is a good id by construction: a number or a slug.
    pub(super) fn minted(text: &str) -> Self {
        debug_assert!(check_id(text).is_ok());
        Self(text.into())
    }
}

impl Default for ResourceId {
    /// The resource of callers that name none.
    fn default() -> Self {
        Self("default".into())
    }
}

impl Actor {
    /// Returns the actor of what happens by itself.
    #[must_use]
    pub fn service() -> Self {
        Self("tasklane".into())
    }
}

impl Default for Actor {
    /// The actor of callers that name none.
    fn default() -> Self {
        Self("anonymous".into())
    }
}

/// Which list is meant, everywhere: two resources never see each other's threads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// Whom the thread belongs to.
    pub resource: ResourceId,
    /// The thread.
    pub thread: ThreadId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_counted_in_characters_and_in_bytes() {
        assert!(TaskId::parse("é".repeat(256)).is_ok());
        assert_eq!(TaskId::parse("x".repeat(257)), Err(TextFault::TooManyChars { chars_max: 256 }));
        assert_eq!(TaskId::parse("修".repeat(171)), Err(TextFault::TooManyBytes { bytes_max: 512 }));
    }

    #[test]
    fn an_id_that_no_url_or_line_can_carry_is_refused() {
        for (text, fault) in [
            ("", TextFault::Empty),
            (".", TextFault::Dots),
            ("..", TextFault::Dots),
            ("a\0b", TextFault::Nul),
            ("a\nb", TextFault::Control),
            ("a\u{7f}b", TextFault::Control),
            ("a\u{85}b", TextFault::Control),
        ] {
            assert_eq!(TaskId::parse(text), Err(fault), "{text:?}");
        }
        assert!(TaskId::parse("with space/slash?#%").is_ok());
        assert!(TaskId::parse("...").is_ok());
    }
}
