//! Every way in which a list says no. A refusal changes nothing.

use super::ids::{Owner, TaskId};
use super::task::{Content, Moment, Revision};

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
    /// Somebody holds the task, and the call shows no token or another one.
    Held {
        /// The task.
        id: TaskId,
        /// Who holds it.
        holder: Owner,
        /// Until when, if by a lease; an owner without a lease holds it until it is released.
        expires_at: Option<Moment>,
    },
    /// The token that the call shows is of a lease that has ended; nobody holds the task by a lease now.
    LeaseEnded {
        /// The task.
        id: TaskId,
    },
    /// A release or a heartbeat without a token, of a task that nobody has claimed.
    NotClaimed {
        /// The task.
        id: TaskId,
    },
    /// The task is completed, so that it cannot be taken or given back.
    AlreadyCompleted {
        /// The task.
        id: TaskId,
    },
    /// The task waits for others.
    Blocked {
        /// The task.
        id: TaskId,
        /// The blockers that are not completed, in list order.
        blockers: Vec<TaskId>,
    },
    /// The list never had this revision.
    FutureRevision {
        /// The revision.
        revision: Revision,
        /// The newest one.
        newest: Revision,
    },
    /// Some change since that revision is not kept any more.
    RevisionNotKept {
        /// The revision.
        revision: Revision,
        /// The oldest one that can be restored.
        oldest: Revision,
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
