//! A list in the making: what every operation is given, works on and leaves behind.

use std::sync::Arc;

use super::ids::{Actor, TaskId};
use super::list::{Counters, TaskList};
use super::refusal::Refusal;
use super::task::{Moment, Task, Version};
use super::view::{TaskView, view_of, views_of};

/// What an operation cannot know by itself.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// When it happens.
    pub at: Moment,
    /// The number of the commit that will store it.
    pub change_id: Version,
    /// Who asked for it.
    pub actor: Actor,
    /// The moment by the database's clock, which alone decides when leases end.
    pub store_at: Moment,
    /// The lease token that the caller shows.
    pub token: Option<Arc<str>>,
    /// Chance for a new lease token.
    pub secret: u64,
}

impl Stamp {
    /// Stamps what happens at a moment by every clock, with no token shown and none to be made.
    #[must_use]
    pub fn new(at: Moment, change_id: Version, actor: Actor) -> Self {
        Self { at, change_id, actor, store_at: at, token: None, secret: 0 }
    }
}

/// What an operation did, besides the list that it made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The task that it was about.
    pub task: Option<TaskId>,
    /// Tasks that it removed, as they were, in list order.
    pub removed: Vec<TaskView>,
    /// Tasks of the same owner that went back to pending.
    pub put_back: Vec<TaskId>,
    /// Tasks that had an open blocker and have none any more, in list order.
    pub unblocked: Vec<TaskId>,
    /// Which edge arguments changed an edge.
    pub edges: ChangedEdges,
    /// Tasks that a whole-list write left as they are because somebody holds them, in list order.
    pub held: Vec<TaskId>,
}

/// Which of a patch's edge arguments changed an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each edge argument of a patch")]
pub struct ChangedEdges {
    /// `add_blocks` did.
    pub add_blocks: bool,
    /// `add_blocked_by` did.
    pub add_blocked_by: bool,
    /// `remove_blocks` did.
    pub remove_blocks: bool,
    /// `remove_blocked_by` did.
    pub remove_blocked_by: bool,
}

/// A list in the making: tasks may be changed freely until it is settled.
pub(super) struct Sketch {
    pub(super) at: Moment,
    pub(super) tasks: Vec<Arc<Task>>,
    pub(super) counters: Counters,
    pub(super) outcome: Outcome,
}

impl Sketch {
    pub(super) fn of(list: &TaskList, at: Moment) -> Self {
        Self { at, tasks: list.tasks.to_vec(), counters: list.counters, outcome: Outcome::default() }
    }

    pub(super) fn ids(&self) -> Vec<TaskId> {
        self.tasks.iter().map(|task| task.id.clone()).collect()
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&Arc<Task>> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    pub(super) fn view(&self, id: &TaskId) -> Result<TaskView, Refusal> {
        view_of(&self.tasks, id).ok_or_else(|| unknown(id, self.ids()))
    }

    pub(super) fn views(&self) -> Vec<TaskView> {
        views_of(&self.tasks)
    }

    /// Returns the task for changing.
    pub(super) fn edit(&mut self, id: &TaskId) -> Result<&mut Task, Refusal> {
        match self.tasks.iter().position(|task| task.id == *id) {
            Some(at) => self.tasks.get_mut(at).map(Arc::make_mut).ok_or_else(|| unknown(id, Vec::new())),
            None => Err(unknown(id, self.ids())),
        }
    }
}

fn unknown(id: &TaskId, available: Vec<TaskId>) -> Refusal {
    Refusal::UnknownTask { id: id.clone(), available }
}
