//! How a call is known again when it is repeated: its key and a fingerprint of what was asked, the same on every edge.

use std::fmt::Write;

use axum::http::HeaderName;
use sha2::{Digest, Sha256};

use crate::domain::{Actor, Json};
use crate::json::to_text;
use crate::store::AnswerKey;
use crate::tool_call::Repeat;

/// The header that carries a key.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most characters of a key.
const KEY_CHARS_MAX: usize = 255;

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// It is empty or too long.
    #[error("must have 1 to {KEY_CHARS_MAX} characters, such as a UUID")]
    Length,
    /// It holds what a header's text may not.
    #[error("must be printable ASCII, such as a UUID")]
    Unprintable,
}

/// Reads a key: a structured-field string, or the bare text that most clients send.
///
/// # Errors
/// It is empty, too long or holds what a header's text may not.
pub fn parse_key(value: &str) -> Result<String, KeyFault> {
    let value = value.trim();
    let key = match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => value.to_owned(),
    };
    if key.is_empty() || key.chars().count() > KEY_CHARS_MAX {
        return Err(KeyFault::Length);
    }
    if !key.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
        return Err(KeyFault::Unprintable);
    }
    Ok(key)
}

/// Returns how to know a call again. `operation` separates calls that one key may serve; `target` and `body` tell two calls
/// of one operation apart, however the body was laid out.
#[must_use]
pub fn repeat(key: &str, actor: &Actor, operation: String, target: &str, body: Option<&Json>) -> Repeat {
    let mut digest = Sha256::new();
    digest.update(target.as_bytes());
    // No id holds a control character, so that target and body cannot run into each other.
    digest.update([0]);
    digest.update(body.map(to_text).unwrap_or_default().as_bytes());
    let mut fingerprint = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a String does not fail.
        let _ = write!(fingerprint, "{byte:02x}");
    }
    Repeat { key: AnswerKey { actor: actor.clone(), operation, key: key.to_owned() }, fingerprint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_key_may_come_quoted_or_bare() {
        for (value, key) in [("abc", "abc"), ("\"abc\"", "abc"), (r#""a\"b""#, "a\"b"), ("\"", "\"")] {
            assert_eq!(parse_key(value).unwrap(), key, "{value}");
        }
        for value in ["", "\"\"", "a\tb", &"x".repeat(256)] {
            assert!(parse_key(value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_fingerprint_tells_what_was_asked_and_not_how_it_was_laid_out() {
        let print = |target: &str, body: &str| {
            let body = json::parse(body).unwrap();
            repeat("k", &Actor::default(), "task_update".to_owned(), target, Some(&body)).fingerprint
        };
        assert_eq!(print("a", "{\"x\": 1}"), print("a", "{\"x\":1}"));
        assert_ne!(print("a", "{\"x\":1}"), print("b", "{\"x\":1}"));
        assert_ne!(print("a", "{\"x\":1}"), print("a", "{\"x\":1.0}"));
    }
}
