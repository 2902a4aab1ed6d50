//! A task as readers see it, with the edges of both sides, and which of them they ask for.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ids::{Owner, TaskId};
use super::task::{Status, Task};

/// A task as readers see it: with the edges of both sides, in list order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// The task.
    pub task: Arc<Task>,
    /// Every task that has this one as a blocker, whatever their status.
    pub blocks: Vec<TaskId>,
    /// The blockers that are not completed.
    pub blocked_by: Vec<TaskId>,
}

impl TaskView {
    /// Tells whether it can be begun now: pending, unowned, no open blocker.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.task.status == Status::Pending && self.task.owner.is_none() && self.blocked_by.is_empty()
    }

    pub(super) fn reads_like(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.task, &other.task) || self.task.reads_like(&other.task))
            && self.blocks == other.blocks
            && self.blocked_by == other.blocked_by
    }
}

/// Which tasks of a list are asked for; what is not given does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those with this status.
    pub status: Option<Status>,
    /// Only those of this owner, or (inner `None`) of nobody.
    pub owner: Option<Option<Owner>>,
    /// Only those that are ready, or only those that are not.
    pub ready: Option<bool>,
}

impl Filter {
    /// Tells whether a task is asked for.
    #[must_use]
    pub fn admits(&self, view: &TaskView) -> bool {
        self.status.is_none_or(|status| view.task.status == status)
            && self.owner.as_ref().is_none_or(|owner| view.task.owner == *owner)
            && self.ready.is_none_or(|ready| view.is_ready() == ready)
    }
}

fn is_open_blocker(blocker: &Task, task: &Task) -> bool {
    blocker.status != Status::Completed && task.blockers.contains(&blocker.id)
}

/// Returns one of these tasks as readers see it.
pub(super) fn view_of(tasks: &[Arc<Task>], id: &TaskId) -> Option<TaskView> {
    let task = tasks.iter().find(|task| task.id == *id)?;
    let blocks = tasks.iter().filter(|other| other.blockers.contains(id)).map(|other| other.id.clone());
    let blocked_by = tasks.iter().filter(|other| is_open_blocker(other, task)).map(|other| other.id.clone());
    Some(TaskView { task: Arc::clone(task), blocks: blocks.collect(), blocked_by: blocked_by.collect() })
}

/// Returns all of these tasks as readers see them.
pub(super) fn views_of(tasks: &[Arc<Task>]) -> Vec<TaskView> {
    let mut views: Vec<TaskView> = tasks
        .iter()
        .map(|task| TaskView { task: Arc::clone(task), blocks: Vec::new(), blocked_by: Vec::new() })
        .collect();
    if tasks.iter().all(|task| task.blockers.is_empty()) {
        return views;
    }
    let place: HashMap<&TaskId, usize> = tasks.iter().enumerate().map(|(at, task)| (&task.id, at)).collect();
    // Walking dependents in list order fills `blocks` in list order; blockers are put into that order by place.
    for (at, task) in tasks.iter().enumerate() {
        let mut blockers: Vec<usize> = task.blockers.iter().filter_map(|id| place.get(id).copied()).collect();
        blockers.sort_unstable();
        for blocker_at in blockers {
            let Some(blocker) = tasks.get(blocker_at) else { continue };
            if let Some(view) = views.get_mut(blocker_at) {
                view.blocks.push(task.id.clone());
            }
            if blocker.status != Status::Completed
                && let Some(view) = views.get_mut(at)
            {
                view.blocked_by.push(blocker.id.clone());
            }
        }
    }
    views
}
