//! Every way in which a list says no. A refusal changes nothing.

use super::ids::{Owner, TaskId};
use super::task::Content;

/// Why an operation was not done. Its text is one or two sentences that tell an agent what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No task of the list has this id.
    UnknownTask {
        /// The id.
        id: TaskId,
        /// The ids there are, in list order.
        available: Vec<TaskId>,
    },
    /// There is no thread to delete: no list was ever written, or it was deleted since.
    UnknownThread,
    /// A new task's id is taken.
    TaskExists {
        /// The id.
        id: TaskId,
    },
    /// One owner would have several tasks in progress.
    SeveralInProgress {
        /// The owner, or nobody.
        owner: Option<Owner>,
        /// Those tasks, in list order; by content, since an id may have been minted in the refused call.
        tasks: Vec<Content>,
    },
    /// A task would block itself.
    SelfDependency {
        /// The task.
        id: TaskId,
    },
    /// An edge leads to a task that the list does not have.
    UnknownDependency {
        /// The task that was to get the edge.
        id: TaskId,
        /// The id that no task has.
        unknown: TaskId,
        /// The ids there are, in list order.
        available: Vec<TaskId>,
    },
    /// Tasks would wait for each other.
    Cycle {
        /// The blocker of the edge that closes it.
        blocker: TaskId,
        /// The task that was to wait for it.
        blocked: TaskId,
        /// Each task blocks the next; the first is the last.
        path: Vec<TaskId>,
    },
    /// The list would have too many tasks.
    TooManyTasks {
        /// How many it would have.
        tasks: usize,
        /// The most that it may have.
        tasks_max: usize,
    },
    /// The list's texts would be too long.
    ListTooLarge {
        /// How many bytes they would have.
        bytes: usize,
        /// The most that they may have.
        bytes_max: usize,
    },
    /// A description is too long.
    DescriptionTooLarge {
        /// How many bytes it has.
        bytes: usize,
        /// The most that it may have.
        bytes_max: usize,
    },
    /// A task's metadata is or would be too large.
    MetadataTooLarge {
        /// How many bytes it has as compact JSON.
        bytes: usize,
        /// The most that it may have.
        bytes_max: usize,
    },
    /// A task's metadata is nested too deeply.
    MetadataTooDeep {
        /// How many levels it has.
        levels: usize,
        /// The most that it may have.
        levels_max: usize,
    },
}
