//! What an operation did: the record that history, streams and restores read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dependencies::drop_dangling_edges;
use super::ids::{Actor, TaskId};
use super::pairing::Pairing;
use super::task::{Moment, Revision, Task, Version};
use super::view::TaskView;

/// One change of a list. Replayed forward or backward it leads from one revision to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The revision that it made.
    pub revision: Revision,
    /// The commit that stored it.
    pub change_id: Version,
    /// What was asked for.
    pub operation: Cow<'static, str>,
    /// Who asked.
    pub actor: Actor,
    /// When.
    pub at: Moment,
    /// What it did, in the order in which it is replayed.
    pub ops: Vec<Op>,
}

/// One step of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A task came, at the end of the list.
    Add(TaskView),
    /// A task reads differently.
    Update {
        /// As it was.
        before: TaskView,
        /// As it is.
        after: TaskView,
    },
    /// A task went.
    Remove {
        /// As it was.
        before: TaskView,
        /// Where it stood, counted from 0 in the list as it was.
        place: usize,
    },
    /// The tasks stand in another order than the steps above give.
    Order {
        /// All ids as they stood before the change.
        before: Vec<TaskId>,
        /// All ids as they stand now.
        after: Vec<TaskId>,
    },
}

/// Changes of a list, oldest first.
#[derive(Debug, Clone)]
pub struct History {
    /// The changes.
    pub changes: Vec<Change>,
    /// Where the next page begins, if there may be more: the last revision that was looked at.
    pub next_after: Option<Revision>,
    /// The list's revision when it was asked.
    pub revision: Revision,
    /// The oldest revision that can be restored.
    pub oldest: Revision,
}

/// How many tasks a change added, updated and removed, as a line for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tasks that came.
    pub added: usize,
    /// Tasks that read differently.
    pub updated: usize,
    /// Tasks that went.
    pub removed: usize,
    /// Whether the order changed.
    pub reordered: bool,
}

impl Summary {
    /// Counts the steps.
    #[must_use]
    pub fn of(ops: &[Op]) -> Self {
        let mut summary = Self::default();
        for op in ops {
            match op {
                Op::Add(_) => summary.added += 1,
                Op::Update { .. } => summary.updated += 1,
                Op::Remove { .. } => summary.removed += 1,
                Op::Order { .. } => summary.reordered = true,
            }
        }
        summary
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [("added", self.added), ("updated", self.updated), ("removed", self.removed)];
        let mut parts: Vec<String> =
            counts.iter().filter(|(_, count)| *count > 0).map(|(verb, count)| format!("{count} {verb}")).collect();
        if self.reordered {
            parts.push("reordered".to_owned());
        }
        f.write_str(&if parts.is_empty() { "nothing left to remove".to_owned() } else { parts.join(", ") })
    }
}

/// Returns the tasks as they were before a change, given those after it.
#[must_use]
pub fn replayed_back(tasks: &[Arc<Task>], ops: &[Op]) -> Vec<Arc<Task>> {
    let mut earlier: Vec<Arc<Task>> = tasks.to_vec();
    let mut removed: Vec<(usize, &TaskView)> = Vec::new();
    let mut seen: Vec<&TaskView> = Vec::new();
    for op in ops {
        match op {
            Op::Add(view) => earlier.retain(|task| task.id != view.task.id),
            Op::Update { before, .. } => {
                replace(&mut earlier, before);
                seen.push(before);
            }
            Op::Remove { before, place } => {
                removed.push((*place, before));
                seen.push(before);
            }
            Op::Order { .. } => {}
        }
    }
    removed.sort_by_key(|(place, _)| *place);
    for (place, view) in removed {
        earlier.insert(place.min(earlier.len()), Arc::clone(&view.task));
    }
    let order = ops.iter().find_map(|op| if let Op::Order { before, .. } = op { Some(before) } else { None });
    linked(order.map_or_else(|| earlier.clone(), |before| ordered(&earlier, before)), &seen)
}

/// Returns the tasks as they are after a change, given those before it.
#[must_use]
pub fn replayed(tasks: &[Arc<Task>], ops: &[Op]) -> Vec<Arc<Task>> {
    let mut later: Vec<Arc<Task>> = tasks.to_vec();
    let mut seen: Vec<&TaskView> = Vec::new();
    for op in ops {
        match op {
            Op::Add(view) => {
                later.push(Arc::clone(&view.task));
                seen.push(view);
            }
            Op::Update { after, .. } => {
                replace(&mut later, after);
                seen.push(after);
            }
            Op::Remove { before, .. } => later.retain(|task| task.id != before.task.id),
            Op::Order { after, .. } => later = ordered(&later, after),
        }
    }
    linked(later, &seen)
}

/// Gives each task the blockers that the replayed views tell of.
///
/// A task that got or lost a completed blocker reads as before, so that the change has no step for it; but every edge is
/// seen from its blocker's side, and that side has a step.
fn linked(mut tasks: Vec<Arc<Task>>, seen: &[&TaskView]) -> Vec<Arc<Task>> {
    let blocks: HashMap<&TaskId, HashSet<&TaskId>> =
        seen.iter().map(|view| (&view.task.id, view.blocks.iter().collect())).collect();
    let mut blocked_by: HashMap<&TaskId, Vec<&TaskId>> = HashMap::new();
    for view in seen {
        for blocked in &view.blocks {
            blocked_by.entry(blocked).or_default().push(&view.task.id);
        }
    }
    for task in &mut tasks {
        let is_stale = |id: &TaskId| blocks.get(id).is_some_and(|blocked| !blocked.contains(&task.id));
        let stays: Vec<&TaskId> = task.blockers.iter().filter(|id| !is_stale(id)).collect();
        let new = blocked_by.get(&task.id).into_iter().flatten().copied().filter(|id| !task.blockers.contains(id));
        let blockers: Vec<TaskId> = stays.into_iter().chain(new).cloned().collect();
        if blockers != task.blockers {
            Arc::make_mut(task).blockers = blockers;
        }
    }
    drop_dangling_edges(&mut tasks);
    tasks
}

fn replace(tasks: &mut [Arc<Task>], view: &TaskView) {
    if let Some(slot) = tasks.iter_mut().find(|task| task.id == view.task.id) {
        *slot = Arc::clone(&view.task);
    }
}

fn ordered(tasks: &[Arc<Task>], ids: &[TaskId]) -> Vec<Arc<Task>> {
    let by_id: HashMap<&TaskId, &Arc<Task>> = tasks.iter().map(|task| (&task.id, task)).collect();
    ids.iter().filter_map(|id| by_id.get(id).map(|task| Arc::clone(task))).collect()
}

/// Returns the steps that lead from one state of a list to the other.
pub(super) fn ops_between(earlier: &[TaskView], later: &[TaskView], pairing: &Pairing<'_, TaskView>) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::new();
    let mut added: Vec<&TaskId> = Vec::new();
    for (at, view) in later.iter().enumerate() {
        match pairing.was(at, &view.task.id) {
            None => {
                added.push(&view.task.id);
                ops.push(Op::Add(view.clone()));
            }
            Some(before) if !view.reads_like(before) => {
                ops.push(Op::Update { before: before.clone(), after: view.clone() });
            }
            Some(_) => {}
        }
    }
    let stays: HashSet<&TaskId> = later.iter().skip(pairing.common()).map(|view| &view.task.id).collect();
    for (place, view) in (pairing.common()..).zip(pairing.rest()) {
        if !stays.contains(&view.task.id) {
            ops.push(Op::Remove { before: view.clone(), place });
        }
    }
    let survivors = pairing.rest().iter().map(|view| &view.task.id).filter(|id| stays.contains(id));
    if !survivors.chain(added).eq(later.iter().skip(pairing.common()).map(|view| &view.task.id)) {
        let ids = |views: &[TaskView]| views.iter().map(|view| view.task.id.clone()).collect();
        ops.push(Op::Order { before: ids(earlier), after: ids(later) });
    }
    ops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Operation;
    use crate::domain::fixture::{Story, blocked_by, ids, task_id, write};

    #[test]
    fn an_edge_to_a_completed_blocker_is_replayed_though_only_the_blocker_reads_differently() {
        let mut story = Story::new();
        story.run(&write(&["a", "b"]));
        story.run(&Operation::Complete(task_id("a")));
        let before = story.list.clone();
        let linked = story.run(&blocked_by("b", &["a"]));
        let ops = linked.change.unwrap().ops;
        assert_eq!(Summary::of(&ops).updated, 1);
        assert_eq!(replayed(before.tasks(), &ops)[1].blockers, ids(&["a"]));
        assert!(replayed_back(story.list.tasks(), &ops)[1].blockers.is_empty());
    }
}
