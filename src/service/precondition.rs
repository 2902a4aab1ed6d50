//! What a caller requires of a list before it may be changed.

use crate::domain::{Refusal, Revision, TaskId, TaskList, Version};

/// A condition on the state that the caller has seen, judged against the very state that the operation is applied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    /// Of what.
    pub target: Target,
    /// What must hold.
    pub rule: Rule,
}

/// Whose state a condition is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The whole list.
    List,
    /// One task.
    Task(TaskId),
}

/// What must hold of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// It was written, whatever its state.
    Exists,
    /// It was not written yet.
    Absent,
    /// Its state is one of these.
    Matches(Vec<Tag>),
}

/// One state: a revision and, unless the caller gave the bare number, the change that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// The revision.
    pub revision: Revision,
    /// The change that made it; two states may share a revision after a failover, but not this.
    pub change_id: Option<Version>,
}

/// How a condition turned out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It cannot be asked: there is no such task.
    Refused(Refusal),
}

impl Precondition {
    /// Judges the condition.
    #[must_use]
    pub fn judge(&self, list: &TaskList) -> Verdict {
        let state = match &self.target {
            Target::List => list.exists().then_some((list.revision(), list.change_id())),
            Target::Task(id) => match (list.get(id), &self.rule) {
                (Some(task), _) => Some((task.revision, task.change_id)),
                (None, Rule::Absent) => None,
                (None, Rule::Exists | Rule::Matches(_)) => {
                    return Verdict::Refused(Refusal::UnknownTask { id: id.clone(), available: list.ids() });
                }
            },
        };
        let holds = match &self.rule {
            Rule::Exists => state.is_some(),
            Rule::Absent => state.is_none(),
            // A list that was never written, or was deleted, still has a state that a caller may have seen.
            Rule::Matches(tags) => {
                let (revision, change_id) = state.unwrap_or((list.revision(), list.change_id()));
                tags.iter()
                    .any(|tag| tag.revision == revision && tag.change_id.is_none_or(|wanted| wanted == change_id))
            }
        };
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}
