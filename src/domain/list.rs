//! The task list of one thread: the aggregate that every operation reads and replaces.

use std::collections::HashSet;
use std::sync::Arc;

use super::ids::TaskId;
use super::pairing::Pairing;
use super::task::{Moment, Revision, Status, Task, Version};
use super::view::{TaskView, view_of, views_of};

/// The ordered tasks of one thread with their revision. Ids are unique, edges lead to tasks of the list and make no cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskList {
    pub(super) revision: Revision,
    pub(super) change_id: Version,
    pub(super) deleted_at_revision: Option<Revision>,
    pub(super) counters: Counters,
    /// Shared by all who hold this state of the list.
    pub(super) tasks: Arc<Vec<Arc<Task>>>,
}

/// What a list counts that no operation ever resets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// The number that the next task without an id gets, if no task of the list has it as id.
    pub next_number: i64,
    /// How many leases were ever given.
    pub leases: i64,
}

impl Default for Counters {
    fn default() -> Self {
        Self { next_number: 1, leases: 0 }
    }
}

/// How many tasks there are, and how far they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub total: usize,
    /// Those that are completed.
    pub completed: usize,
    /// Those in progress.
    pub in_progress: usize,
    /// Those not begun.
    pub pending: usize,
}

impl Counts {
    /// Returns how many are not completed.
    #[must_use]
    pub fn incomplete(&self) -> usize {
        self.in_progress + self.pending
    }

    /// Tells whether there are tasks and all of them are completed.
    #[must_use]
    pub fn all_completed(&self) -> bool {
        self.total > 0 && self.completed == self.total
    }
}

/// What a store has to write so that a later state of a list takes the place of an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Tasks that are not stored as they are now.
    pub upserts: Vec<Arc<Task>>,
    /// Tasks that are stored and went.
    pub removals: Vec<TaskId>,
    /// Whether what is kept of the list itself differs.
    pub moves_row: bool,
}

impl Difference {
    /// Tells whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.upserts.is_empty() && self.removals.is_empty() && !self.moves_row
    }
}

/// What was stored is not a list: two tasks share an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tasks have the id {0}")]
pub struct DuplicateId(pub TaskId);

impl TaskList {
    /// Puts a list together from what was stored, tasks in their order.
    ///
    /// # Errors
    /// Two tasks with one id.
    pub fn restored(
        revision: Revision,
        change_id: Version,
        deleted_at_revision: Option<Revision>,
        counters: Counters,
        tasks: Vec<Arc<Task>>,
    ) -> Result<Self, DuplicateId> {
        let mut ids = HashSet::with_capacity(tasks.len());
        if let Some(twice) = tasks.iter().find(|task| !ids.insert(&task.id)) {
            return Err(DuplicateId(twice.id.clone()));
        }
        Ok(Self { revision, change_id, deleted_at_revision, counters, tasks: Arc::new(tasks) })
    }

    /// Returns how often the list has changed.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the change that made this revision.
    #[must_use]
    pub fn change_id(&self) -> Version {
        self.change_id
    }

    /// Returns the revision at which the thread was last deleted, if it ever was.
    #[must_use]
    pub fn deleted_at_revision(&self) -> Option<Revision> {
        self.deleted_at_revision
    }

    /// Tells whether there is something to delete: it was written, and not deleted since.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.revision > Revision::default() && self.deleted_at_revision != Some(self.revision)
    }

    /// Returns what is counted and never reset.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the tasks in their order.
    #[must_use]
    pub fn tasks(&self) -> &[Arc<Task>] {
        &self.tasks
    }

    /// Returns the task with this id.
    #[must_use]
    pub fn get(&self, id: &TaskId) -> Option<&Arc<Task>> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    /// Returns the task with this id as readers see it.
    #[must_use]
    pub fn view(&self, id: &TaskId) -> Option<TaskView> {
        view_of(&self.tasks, id)
    }

    /// Returns all tasks as readers see them, in their order.
    #[must_use]
    pub fn views(&self) -> Vec<TaskView> {
        views_of(&self.tasks)
    }

    /// Returns how many tasks there are, and how far they are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { total: self.tasks.len(), ..Counts::default() };
        for task in self.tasks.iter() {
            match task.status {
                Status::Pending => counts.pending += 1,
                Status::InProgress => counts.in_progress += 1,
                Status::Completed => counts.completed += 1,
            }
        }
        counts
    }

    /// Returns the moment at which the first lease ends by itself, if there is a lease.
    #[must_use]
    pub fn first_lease_expiry(&self) -> Option<Moment> {
        self.tasks.iter().filter_map(|task| task.lease.as_ref()).map(|lease| lease.expires_at).min()
    }

    /// Returns what of this list is not stored yet, where the earlier one is.
    #[must_use]
    pub fn difference_from(&self, earlier: &Self) -> Difference {
        let pairing = Pairing::of(&earlier.tasks, &self.tasks);
        let is_stored = |at: usize, task: &Arc<Task>| {
            pairing.was(at, &task.id).is_some_and(|was| Arc::ptr_eq(was, task) || *was == *task)
        };
        let upserts = self.tasks.iter().enumerate().filter(|(at, task)| !is_stored(*at, task));
        let stays: HashSet<&TaskId> = self.tasks.iter().skip(pairing.common()).map(|task| &task.id).collect();
        let removals = pairing.rest().iter().map(|task| &task.id).filter(|id| !stays.contains(id));
        Difference {
            upserts: upserts.map(|(_, task)| Arc::clone(task)).collect(),
            removals: removals.cloned().collect(),
            moves_row: self.counters != earlier.counters || self.revision != earlier.revision,
        }
    }

    /// Returns the ids in their order.
    #[must_use]
    pub fn ids(&self) -> Vec<TaskId> {
        self.tasks.iter().map(|task| task.id.clone()).collect()
    }
}
