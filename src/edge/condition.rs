//! On which condition a call is to be done: what `If-Match` and `If-None-Match` ask for.

use super::etag::{self, Kind, TagRule};
use crate::domain::TaskList;
use crate::service::{Precondition, Rule, Target, Verdict};

/// `If-None-Match` names states, which only a read can obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("can only be * on a write")]
pub struct OnlyForReads;

/// Returns what a write requires of the state of its target.
///
/// # Errors
/// `If-None-Match` says something that only a read can obey.
pub fn precondition(
    if_match: Option<&str>,
    if_none_match: Option<&str>,
    target: &Target,
) -> Result<Option<Precondition>, OnlyForReads> {
    let kind = kind_of(target);
    let written = if_match.map(|value| rule(etag::parse(value, kind)));
    let new = match if_none_match.map(|value| etag::parse(value, kind)) {
        None => None,
        Some(TagRule::Any) => Some(Rule::Absent),
        Some(TagRule::Among(_)) => return Err(OnlyForReads),
    };
    let precondition = |rule| Some(Precondition { target: target.clone(), rule });
    Ok(match (written, new) {
        (None, None) => None,
        (Some(rule), None) | (None, Some(rule)) => precondition(rule),
        // Nothing is both written and new. Asked of the list, for a task may be unknown, and that is another answer.
        (Some(_), Some(_)) => Some(Precondition { target: Target::List, rule: Rule::Matches(Vec::new()) }),
    })
}

/// Tells whether the target's state is one that a header of entity tags names.
#[must_use]
pub fn is_among(value: &str, list: &TaskList, target: &Target) -> bool {
    let rule = rule(etag::parse(value, kind_of(target)));
    Precondition { target: target.clone(), rule }.judge(list) == Verdict::Holds
}

fn kind_of(target: &Target) -> Kind {
    match target {
        Target::List => Kind::List,
        Target::Task(_) => Kind::Task,
    }
}

fn rule(tags: TagRule) -> Rule {
    match tags {
        TagRule::Any => Rule::Exists,
        TagRule::Among(tags) => Rule::Matches(tags),
    }
}
