//! Everything that can be asked of a list.

use super::change::Change;
use super::ids::{Owner, TaskId};
use super::json::Metadata;
use super::task::{ActiveForm, Content, Description, Revision, Status};

/// One thing to do to a list, its arguments parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Replaces the whole list.
    Write(Vec<Item>),
    /// Changes one task.
    Update {
        /// Which task.
        id: TaskId,
        /// What of it.
        patch: Patch,
        /// What happens to the owner's other tasks.
        focus: Focus,
    },
    /// Marks one task completed.
    Complete(TaskId),
    /// Adds one task at the end.
    Create {
        /// The task.
        draft: Draft,
        /// What happens if its owner has a task in progress already.
        focus: Focus,
    },
    /// Removes one task and its edges.
    Delete(TaskId),
    /// Removes all tasks.
    Clear,
    /// Removes all tasks and the history.
    DeleteThread,
    /// Takes a task for a while.
    Claim(Claim),
    /// Gives a task back before it is done.
    Release {
        /// Which task.
        id: TaskId,
        /// Whether without the holder's token.
        force: bool,
    },
    /// Holds a task for longer.
    Heartbeat {
        /// Which task.
        id: TaskId,
        /// How long from now on.
        lease_seconds: u32,
    },
    /// Gives back every task whose lease has ended.
    Expire,
    /// Makes the list what it was.
    Restore {
        /// At which revision.
        revision: Revision,
        /// Every change since then, oldest first.
        since: Vec<Change>,
    },
}

impl Operation {
    /// Returns the name that the history shows.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Write(_) => "task_write",
            Self::Update { .. } => "task_update",
            Self::Complete(_) => "task_complete",
            Self::Create { .. } => "task_create",
            Self::Delete(_) => "task_delete",
            Self::Clear => "task_clear",
            Self::DeleteThread => "thread_delete",
            Self::Claim(_) => "task_claim",
            Self::Release { .. } => "task_release",
            Self::Heartbeat { .. } => "task_heartbeat",
            Self::Expire => "lease_expire",
            Self::Restore { .. } => "task_restore",
        }
    }
}

/// Which task is wanted, by whom and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who will hold it.
    pub owner: Owner,
    /// Which task; the first ready one in list order if there is none.
    pub id: Option<TaskId>,
    /// How long.
    pub lease_seconds: u32,
    /// Only a task whose metadata is equal under each of these keys.
    pub metadata: Metadata,
}

/// Whether an owner may have several tasks in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// One at a time.
    One,
    /// As many as the owner likes.
    Many,
}

/// One task of a whole-list write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its id, if the caller gave one.
    pub id: Option<TaskId>,
    /// What is to be done.
    pub content: Content,
    /// How far it is.
    pub status: Status,
    /// The same in the present continuous.
    pub active_form: ActiveForm,
}

/// A task to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its id; the list's next number if there is none.
    pub id: Option<TaskId>,
    /// What is to be done.
    pub content: Content,
    /// How far it is.
    pub status: Status,
    /// The same in the present continuous.
    pub active_form: Option<ActiveForm>,
    /// Whatever else is to be known.
    pub description: Description,
    /// Who works on it.
    pub owner: Option<Owner>,
    /// What the client keeps with it.
    pub metadata: Metadata,
    /// The tasks that it blocks.
    pub blocks: Vec<TaskId>,
    /// The tasks that block it.
    pub blocked_by: Vec<TaskId>,
}

/// What of a task changes; `None` and empty lists leave things as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// What is to be done.
    pub content: Option<Content>,
    /// How far it is.
    pub status: Option<Status>,
    /// The same in the present continuous.
    pub active_form: Option<ActiveForm>,
    /// Whatever else is to be known.
    pub description: Option<Description>,
    /// Who works on it; inner `None` releases it.
    pub owner: Option<Option<Owner>>,
    /// Merged shallowly, a `null` removes its key.
    pub metadata: Option<Metadata>,
    /// Tasks that it blocks from now on.
    pub add_blocks: Vec<TaskId>,
    /// Tasks that block it from now on.
    pub add_blocked_by: Vec<TaskId>,
    /// Tasks that it blocks no longer.
    pub remove_blocks: Vec<TaskId>,
    /// Tasks that block it no longer.
    pub remove_blocked_by: Vec<TaskId>,
}

impl Patch {
    /// Tells whether it asks for nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
