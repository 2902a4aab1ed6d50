//! Where a reader of all threads of a resource goes on, as an opaque text.

use std::fmt;
use std::str::FromStr;

use chrono::DateTime;

use crate::domain::Moment;

/// Changes when a cursor's text means something else, so that an old one is refused instead of misread.
const VERSION: &str = "1";

/// Where a reader of all threads of a resource stands. Opaque to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The number below which every commit was told.
    pub(super) number: i64,
    /// When it was given out, for what is not kept forever.
    pub(super) at: Moment,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}.{:x}.{:x}", self.number, self.at.timestamp())
    }
}

/// A text is no cursor that was given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor that this service gave out")]
pub struct NotACursor;

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let mut parts = text.split('.');
        let (version, number, at) = (parts.next(), parts.next(), parts.next());
        if version != Some(VERSION) || parts.next().is_some() {
            return Err(NotACursor);
        }
        let read = |part: Option<&str>| part.and_then(|part| i64::from_str_radix(part, 16).ok()).ok_or(NotACursor);
        let at = DateTime::from_timestamp(read(at)?, 0).ok_or(NotACursor)?;
        Ok(Self { number: read(number)?, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = Cursor { number: i64::MAX, at: DateTime::from_timestamp(1_790_000_000, 0).unwrap() };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "1", "1.2", "2.1.1", "1.x.1", "1.1.1.1", "7"] {
            assert_eq!(text.parse::<Cursor>(), Err(NotACursor));
        }
    }
}
