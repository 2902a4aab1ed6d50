//! What an operation did: the record that history, streams and restores read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ids::{Actor, TaskId};
use super::list::TaskView;
use super::task::{Moment, Revision, Task, Version};

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
    for op in ops {
        match op {
            Op::Add(view) => earlier.retain(|task| task.id != view.task.id),
            Op::Update { before, .. } => replace(&mut earlier, before),
            Op::Remove { before, place } => removed.push((*place, before)),
            Op::Order { .. } => {}
        }
    }
    removed.sort_by_key(|(place, _)| *place);
    for (place, view) in removed {
        earlier.insert(place.min(earlier.len()), Arc::clone(&view.task));
    }
    let order = ops.iter().find_map(|op| if let Op::Order { before, .. } = op { Some(before) } else { None });
    order.map_or_else(|| earlier.clone(), |before| ordered(&earlier, before))
}

/// Returns the tasks as they are after a change, given those before it.
#[must_use]
pub fn replayed(tasks: &[Arc<Task>], ops: &[Op]) -> Vec<Arc<Task>> {
    let mut later: Vec<Arc<Task>> = tasks.to_vec();
    for op in ops {
        match op {
            Op::Add(view) => later.push(Arc::clone(&view.task)),
            Op::Update { after, .. } => replace(&mut later, after),
            Op::Remove { before, .. } => later.retain(|task| task.id != before.task.id),
            Op::Order { after, .. } => later = ordered(&later, after),
        }
    }
    later
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
pub(super) fn ops_between(earlier: &[TaskView], later: &[TaskView]) -> Vec<Op> {
    let was: HashMap<&TaskId, &TaskView> = earlier.iter().map(|view| (&view.task.id, view)).collect();
    let stays: HashSet<&TaskId> = later.iter().map(|view| &view.task.id).collect();

    let mut ops: Vec<Op> = Vec::new();
    for view in later {
        match was.get(&view.task.id) {
            None => ops.push(Op::Add(view.clone())),
            Some(before) if !view.reads_like(before) => {
                ops.push(Op::Update { before: (*before).clone(), after: view.clone() });
            }
            Some(_) => {}
        }
    }
    for (place, view) in earlier.iter().enumerate() {
        if !stays.contains(&view.task.id) {
            ops.push(Op::Remove { before: view.clone(), place });
        }
    }
    let survivors = earlier.iter().map(|view| &view.task.id).filter(|id| stays.contains(id));
    let added = later.iter().map(|view| &view.task.id).filter(|id| !was.contains_key(id));
    if !survivors.chain(added).eq(later.iter().map(|view| &view.task.id)) {
        let ids = |views: &[TaskView]| views.iter().map(|view| view.task.id.clone()).collect();
        ops.push(Op::Order { before: ids(earlier), after: ids(later) });
    }
    ops
}
