//! Entity tags: the revision and the change that made it, so that no two states ever share one.

use axum::http::HeaderValue;

use crate::domain::{Revision, Task, TaskList, Version};
use crate::service::Tag;

/// Returns the tag of a whole list, `"list-<revision>-<change id>"`.
#[must_use]
pub fn list_tag(list: &TaskList) -> HeaderValue {
    revision_tag(list.revision(), list.change_id())
}

/// Returns the tag of a list at a revision.
#[must_use]
pub fn revision_tag(revision: Revision, change_id: Version) -> HeaderValue {
    tag("list", revision, change_id)
}

/// Returns the tag of one task, `"task-<revision>-<change id>"`.
#[must_use]
pub fn task_tag(task: &Task) -> HeaderValue {
    tag("task", task.revision, task.change_id)
}

fn tag(kind: &str, revision: Revision, change_id: Version) -> HeaderValue {
    let text = format!("\"{kind}-{revision}-{change_id}\"");
    // Digits, letters and quotes are fit for any header.
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// What kind of state a route's tags are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole list.
    List,
    /// One task.
    Task,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Self::List => "list-",
            Self::Task => "task-",
        }
    }
}

/// What a header of entity tags asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagRule {
    /// `*`: anything that was written.
    Any,
    /// One of these states; tags of another kind or another service are not among them, since they match nothing.
    Among(Vec<Tag>),
}

/// Reads the value of `If-Match` or `If-None-Match`. A `W/` that a proxy put before a tag is passed over, and the bare
/// `"<revision>"` is a tag too, even if somebody forgot its quotes.
///
/// What is no tag of this kind matches nothing, so that a condition which cannot be read never holds.
#[must_use]
pub fn parse(value: &str, kind: Kind) -> TagRule {
    if value.trim() == "*" {
        return TagRule::Any;
    }
    // No tag of this service has a comma in it.
    TagRule::Among(value.split(',').filter_map(|tag| read_tag(unquoted(tag.trim()), kind)).collect())
}

fn unquoted(tag: &str) -> &str {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag)
}

fn read_tag(opaque: &str, kind: Kind) -> Option<Tag> {
    if let Some(revision) = read_revision(opaque) {
        return Some(Tag { revision, change_id: None });
    }
    let (revision, change_id) = opaque.strip_prefix(kind.prefix())?.split_once('-')?;
    let is_hex = change_id.len() == 16 && change_id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let bits = u64::from_str_radix(change_id, 16).ok().filter(|_| is_hex)?;
    Some(Tag { revision: read_revision(revision)?, change_id: Some(Version::new(bits.cast_signed())) })
}

fn read_revision(text: &str) -> Option<Revision> {
    let is_canonical = text == "0" || (text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0'));
    text.parse().ok().filter(|_| is_canonical).map(Revision::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(value: &str, kind: Kind) -> Vec<(i64, Option<i64>)> {
        let TagRule::Among(tags) = parse(value, kind) else { panic!("{value} is anything") };
        tags.iter().map(|tag| (tag.revision.get(), tag.change_id.map(Version::get))).collect()
    }

    #[test]
    fn a_tag_that_was_given_out_is_read_back() {
        for id in [0, 1, -1, i64::MIN, i64::MAX] {
            let written = tag("task", Revision::new(7), Version::new(id));
            assert_eq!(among(written.to_str().unwrap(), Kind::Task), [(7, Some(id))]);
        }
    }

    #[test]
    fn lists_weak_tags_and_bare_revisions_are_read() {
        let value = r#" W/"list-3-000000000000000a" ,"4", "task-3-000000000000000a","elsewhere", 5"#;
        assert_eq!(among(value, Kind::List), [(3, Some(10)), (4, None), (5, None)]);
        assert_eq!(parse(" * ", Kind::List), TagRule::Any);
    }

    #[test]
    fn what_is_no_tag_matches_nothing() {
        for value in ["", "\"4", "\"4\" \"5\"", "\"04\"", "\"+4\"", "list-3-xyz", "\"-1\"", "\"*\"", "\"\""] {
            assert!(among(value, Kind::List).is_empty(), "{value}");
        }
    }
}
