//! A commit as it is sent: written down by its caller, so that whoever sends a batch only puts columns together.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::domain::{Actor, Counts, Moment, Revision, Task, TaskId, ThreadKey, Version};
use crate::json;
use crate::store::rows::micros;
use crate::store::{AnswerKey, Commit, KeptAnswer};

/// A commit as it is sent. It owns what it holds, so that its caller may go away.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) key: ThreadKey,
    pub(super) expected: Option<Version>,
    pub(super) version: Version,
    pub(super) revision: Revision,
    pub(super) change_id: Version,
    pub(super) deleted_at_revision: Option<Revision>,
    pub(super) next_number: i64,
    pub(super) lease_counter: i64,
    pub(super) lease_expires_at: Option<Moment>,
    pub(super) counts: Counts,
    pub(super) forgets_changes: bool,
    pub(super) at: Moment,
    pub(super) removals: Vec<TaskId>,
    pub(super) upserts: Vec<Upsert>,
    pub(super) changes: Vec<WrittenChange>,
    pub(super) answers: Vec<(AnswerKey, KeptAnswer)>,
}

/// A task with those of its parts that are stored as JSON.
#[derive(Debug)]
pub(super) struct Upsert {
    pub(super) task: Arc<Task>,
    pub(super) metadata: Cow<'static, str>,
    pub(super) blockers: Cow<'static, str>,
}

/// A change with its steps as JSON.
#[derive(Debug)]
pub(super) struct WrittenChange {
    pub(super) revision: Revision,
    pub(super) change_id: Version,
    pub(super) operation: Cow<'static, str>,
    pub(super) actor: Actor,
    pub(super) at: Moment,
    pub(super) ops: String,
}

impl Prepared {
    pub(super) fn of(commit: &Commit) -> Self {
        let list = &commit.list;
        let counters = list.counters();
        Self {
            key: commit.key.clone(),
            expected: commit.expected,
            version: commit.version,
            revision: list.revision(),
            change_id: list.change_id(),
            deleted_at_revision: list.deleted_at_revision(),
            next_number: counters.next_number,
            lease_counter: counters.leases,
            lease_expires_at: list.first_lease_expiry().map(micros),
            counts: list.counts(),
            forgets_changes: commit.forgets_changes,
            at: micros(commit.at),
            removals: removals(commit),
            upserts: commit.upserts.iter().map(Upsert::of).collect(),
            changes: commit.changes.iter().map(WrittenChange::of).collect(),
            answers: commit.answers.clone(),
        }
    }

    /// Returns about how many bytes it adds to the statement.
    pub(super) fn size_bytes(&self) -> usize {
        const ROW: usize = 200;
        let tasks: usize = self.upserts.iter().map(|upsert| ROW + upsert.task.size_bytes()).sum();
        let changes: usize = self.changes.iter().map(|change| ROW + change.ops.len()).sum();
        let answers: usize = self.answers.iter().map(|(_, kept)| ROW + kept.answer.len()).sum();
        ROW * (1 + self.removals.len()) + tasks + changes + answers
    }
}

impl Upsert {
    fn of(task: &Arc<Task>) -> Self {
        let metadata = if task.metadata.is_empty() { "{}".into() } else { json::to_text(&task.metadata).into() };
        let blockers = if task.blockers.is_empty() { "[]".into() } else { json::to_text(&task.blockers).into() };
        Self { task: Arc::clone(task), metadata, blockers }
    }
}

impl WrittenChange {
    fn of(change: &crate::domain::Change) -> Self {
        Self {
            revision: change.revision,
            change_id: change.change_id,
            operation: change.operation.clone(),
            actor: change.actor.clone(),
            at: micros(change.at),
            ops: json::to_text(&change.ops),
        }
    }
}

/// A removal of what is stored again would meet it in the same statement, where their order is undefined.
fn removals(commit: &Commit) -> Vec<TaskId> {
    if commit.removals.is_empty() {
        return Vec::new();
    }
    let stored: HashSet<&TaskId> = commit.upserts.iter().map(|task| &task.id).collect();
    commit.removals.iter().filter(|id| !stored.contains(id)).cloned().collect()
}
