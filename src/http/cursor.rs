//! Where a listing of threads goes on, as an opaque text.

use std::fmt::Write;

use chrono::DateTime;

use crate::domain::ThreadId;
use crate::store::ThreadPlace;

/// Changes when the text means something else, so that an old cursor is refused instead of misread.
const VERSION: &str = "1";

/// Writes the place down.
#[must_use]
pub fn write(place: &ThreadPlace) -> String {
    let mut text = format!("{VERSION}.{}.", place.updated_at.timestamp_micros());
    for byte in place.thread.as_str().bytes() {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads a place that was written down.
#[must_use]
pub fn parse(text: &str) -> Option<ThreadPlace> {
    let mut parts = text.split('.');
    let (version, micros, thread) = (parts.next()?, parts.next()?, parts.next()?);
    if version != VERSION || parts.next().is_some() {
        return None;
    }
    let updated_at = DateTime::from_timestamp_micros(micros.parse().ok()?)?;
    let thread = ThreadId::parse(String::from_utf8(bytes(thread)?).ok()?).ok()?;
    Some(ThreadPlace { updated_at, thread })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_was_written_down_is_read_back() {
        for (micros, thread) in [(0, "t"), (1_790_000_000_123_456, "修.理 %"), (-1, "a.b")] {
            let updated_at = DateTime::from_timestamp_micros(micros).unwrap();
            let place = ThreadPlace { updated_at, thread: ThreadId::parse(thread).unwrap() };
            assert_eq!(parse(&write(&place)), Some(place));
        }
    }

    #[test]
    fn anything_else_is_no_cursor() {
        for text in ["", "1", "1.0.", "2.0.74", "1.0.7", "1.0.ff", "1.zz.74", "1.0.74.1", "1.0.00"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
