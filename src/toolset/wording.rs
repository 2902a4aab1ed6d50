//! How answers put tasks, ids and other people's text into words: one line each, bounded, and impossible to forge.

use std::borrow::Cow;
use std::fmt::Write;

use chrono::SecondsFormat;

use crate::domain::{Counts, Moment, Owner, Status, TaskId, TaskView};

/// The most bytes of a text that an agent gets to read.
pub(super) const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The most characters of a task's content in a line.
pub(super) const CONTENT_CHARS_SHOWN: usize = 200;
/// The most ids that are named one by one.
const IDS_SHOWN_MAX: usize = 20;
/// The most bytes that a list of ids takes, since one id may have 512.
const IDS_BYTES_SHOWN_MAX: usize = 1_000;
/// The most blockers that a task's line names.
const BLOCKERS_SHOWN_MAX: usize = 5;

/// Returns the text on one line: line breaks, other control characters, and characters that reorder a line are written
/// as escapes, and it is cut after so many characters.
pub(super) fn escaped(text: &str, chars_max: usize) -> Cow<'_, str> {
    // Most texts are short and plain.
    if text.len() <= chars_max && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len().min(chars_max.saturating_mul(4)));
    for (count, c) in text.chars().enumerate() {
        if count == chars_max {
            shown.push('…');
            break;
        }
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if c.is_control() || is_format(c) => {
                // Writing to a String does not fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Line and paragraph separators, and the marks that turn the direction of writing.
fn is_format(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text bare if it cannot be mistaken for anything else in a line, quoted otherwise.
fn name(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '#');
    if text.chars().all(is_plain) { Cow::Borrowed(text) } else { Cow::Owned(quoted(text, usize::MAX)) }
}

/// Returns the text in quotes, on one line, cut after so many characters.
pub(super) fn quoted(text: &str, chars_max: usize) -> String {
    format!("\"{}\"", escaped(&text.replace('\\', "\\\\").replace('"', "\\\""), chars_max))
}

pub(super) fn id(id: &TaskId) -> String {
    name(id.as_str()).into_owned()
}

/// Returns the moment in RFC 3339, UTC, with microseconds.
pub(super) fn moment(at: Moment) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

pub(super) fn owner(owner: &Owner) -> String {
    name(owner.as_str()).into_owned()
}

/// Returns the texts with commas between them, the first twenty at most.
pub(super) fn bounded(texts: impl ExactSizeIterator<Item = String>) -> String {
    let total = texts.len();
    let mut shown = String::new();
    for (count, text) in texts.enumerate() {
        let is_full = count >= IDS_SHOWN_MAX || shown.len() + text.len() > IDS_BYTES_SHOWN_MAX;
        if is_full && count > 0 {
            // Writing to a String does not fail.
            let _ = write!(shown, " and {} more", total - count);
            break;
        }
        shown.push_str(if count > 0 { ", " } else { "" });
        shown.push_str(&text);
    }
    shown
}

/// Returns the ids with commas between them, the first twenty at most.
pub(super) fn ids(ids: &[TaskId]) -> String {
    bounded(ids.iter().map(id))
}

/// Returns `1 task`, `2 tasks`.
pub(super) fn tasks(count: usize) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

/// Returns how many tasks there are and how far they are.
pub(super) fn counts(counts: Counts) -> String {
    let parts = [(counts.completed, "completed"), (counts.in_progress, "in progress"), (counts.pending, "pending")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() { tasks(counts.total) } else { format!("{} ({})", tasks(counts.total), parts.join(", ")) }
}

/// Appends a task's line. All that is not the content stands before it, so that no content can pretend to be that.
pub(super) fn push_row(text: &mut String, view: &TaskView, chars_max: usize) {
    let task = &view.task;
    for part in ["- ", &name(task.id.as_str()), " [", task.status.as_str()] {
        text.push_str(part);
    }
    if let Some(owner) = &task.owner {
        text.push_str("; owner ");
        text.push_str(&name(owner.as_str()));
    }
    if !view.blocked_by.is_empty() {
        text.push_str("; blocked by ");
        text.push_str(&ids(view.blocked_by.get(..BLOCKERS_SHOWN_MAX).unwrap_or(&view.blocked_by)));
        let more = view.blocked_by.len().saturating_sub(BLOCKERS_SHOWN_MAX);
        if more > 0 {
            // Writing to a String does not fail.
            let _ = write!(text, " and {more} more");
        }
    }
    text.push_str("] ");
    text.push_str(&escaped(task.content.as_str(), chars_max));
}

fn row(view: &TaskView) -> String {
    let mut row = String::new();
    push_row(&mut row, view, CONTENT_CHARS_SHOWN);
    row
}

/// Appends a line for each task, or nothing if they take more room than there is. Most lists are short.
fn push_all_rows(text: &mut String, views: &[TaskView], room: usize) -> bool {
    let begin = text.len();
    text.reserve(views.len().saturating_mul(64).min(room));
    for view in views {
        text.push('\n');
        push_row(text, view, CONTENT_CHARS_SHOWN);
        if text.len() - begin > room {
            text.truncate(begin);
            return false;
        }
    }
    true
}

/// Appends a line for each task as far as the text has room: those in progress have it first, then pending ones, then
/// completed ones; the lines stand in list order. Says what is left out, and with `how` how to get it.
pub(super) fn push_rows(text: &mut String, views: &[TaskView], how: &str) {
    // Room for the line that says what is left out.
    let mut room = TEXT_BYTES_MAX.saturating_sub(text.len() + how.len() + 120);
    if push_all_rows(text, views, room) {
        return;
    }
    let mut rows: Vec<Option<String>> = vec![None; views.len()];
    let mut left_out = Counts::default();
    for (status, left_out) in [
        (Status::InProgress, &mut left_out.in_progress),
        (Status::Pending, &mut left_out.pending),
        (Status::Completed, &mut left_out.completed),
    ] {
        for (view, shown) in views.iter().zip(&mut rows).filter(|(view, _)| view.task.status == status) {
            // Most of a long list has no room, and then no line is made for it.
            let row = (room > 0).then(|| row(view)).filter(|row| row.len() < room);
            if let Some(row) = &row {
                room -= row.len() + 1;
            } else {
                // What comes later must not slip in before it, or the list would seem to have no such task.
                room = 0;
                *left_out += 1;
            }
            *shown = row;
        }
    }
    for row in rows.iter().flatten() {
        text.push('\n');
        text.push_str(row);
    }
    left_out.total = left_out.in_progress + left_out.pending + left_out.completed;
    if left_out.total > 0 {
        // Writing to a String does not fail.
        let _ = write!(text, "\nNot shown: {}. {how}", counts(left_out));
    }
}
