//! What a task list is and what can happen to it. It decides; it knows no database, no clock, no framework and no dialect.
//!
//! What always holds:
//!
//! - A list is ordered, its ids are unique, and its order changes only by a whole-list write or a restore.
//! - Edges lead to tasks of the same list and never make a cycle. They are kept once, with the blocked task.
//! - The revision rises by one with each change, and only with a change: what no reader could tell apart is no change.
//! - A task's revision is that of the list when anything that a reader sees of it last changed.
//! - Replaying a list's changes gives the list.
//! - A leased task is in progress and owned, and only its token, force or a whole list's end takes it away.
//! - A refusal changes nothing.

mod apply;
mod change;
mod dependencies;
mod digest;
mod edit;
#[cfg(test)]
mod fixture;
mod ids;
mod json;
mod lease;
pub mod limits;
mod list;
mod minting;
mod operation;
mod pairing;
#[cfg(test)]
mod properties;
mod refusal;
mod restore;
mod sketch;
mod task;
mod view;
mod write;

pub use apply::{Applied, apply};
pub use change::{Change, History, Op, Summary, replayed, replayed_back};
pub use digest::digest;
pub use ids::{Actor, Owner, ResourceId, TaskId, TextFault, ThreadId, ThreadKey};
pub use json::{Json, Metadata, NotAnObject};
pub use limits::Limits;
pub use list::{Counters, Counts, Difference, DuplicateId, TaskList};
pub use operation::{Claim, Draft, Focus, Item, Operation, Patch};
pub use refusal::Refusal;
pub use sketch::{ChangedEdges, Outcome, Stamp};
pub use task::{ActiveForm, Content, Description, Lease, Moment, Revision, Status, Task, Version};
pub use view::{Filter, TaskView};
