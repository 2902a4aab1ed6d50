//! What readers of changes are told.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ChangeOut, TaskOut, ThreadOut};
use crate::domain::ThreadId;

/// The `data` of one event; which it is, the line `event:` says.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventOut<'a> {
    /// `snapshot` and `reset`: the list as it is.
    List(ListEventOut<'a>),
    /// `change`: what changed.
    Change(ChangeEventOut<'a>),
}

/// The `data` of one event about all threads; which it is, the line `event:` says.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ResourceEventOut<'a> {
    /// `snapshot`, and `reset` without `threadId`: the threads as they are.
    Threads(ThreadsEventOut<'a>),
    /// `reset` with `threadId`: a thread's list as it is.
    List(ListEventOut<'a>),
    /// `change`: what changed in a thread.
    Change(ChangeEventOut<'a>),
}

/// A list as it is: whatever was known of it before is replaced.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListEventOut<'a> {
    /// Whose list.
    #[schema(value_type = String)]
    pub thread_id: &'a ThreadId,
    /// Its revision.
    #[schema(minimum = 0)]
    pub revision: i64,
    /// All tasks in their order.
    pub tasks: Vec<TaskOut<'a>>,
}

/// The next revision of a list, and the steps that lead to it from the one before.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEventOut<'a> {
    /// Whose list.
    #[schema(value_type = String)]
    pub thread_id: &'a ThreadId,
    /// What changed.
    #[serde(flatten)]
    pub change: ChangeOut<'a>,
}

/// The threads of a resource as they are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadsEventOut<'a> {
    /// Those with the newest activity, at most 100.
    pub threads: Vec<ThreadOut<'a>>,
    /// Whether there are more, which `GET /threads` lists.
    pub has_more: bool,
}
