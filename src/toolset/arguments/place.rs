//! Where in the arguments a value stands; made into text only if something is wrong there.

use std::fmt;

use super::super::wording;
use crate::json::pointer_token;

/// The most characters of a made-up name that an answer repeats.
const NAME_CHARS_MAX: usize = 64;

#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// Returns the place as a JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, key) => format!("{}/{}", parent.pointer(), pointer_token(key)),
            Self::Item(parent, at) => format!("{}/{at}", parent.pointer()),
        }
    }
}

impl fmt::Display for Place<'_> {
    /// Writes the place as people do: `tasks[0].priority`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Place::Root, key) => f.write_str(&wording::escaped(key, NAME_CHARS_MAX)),
            Self::Member(parent, key) => write!(f, "{parent}.{}", wording::escaped(key, NAME_CHARS_MAX)),
            Self::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}
