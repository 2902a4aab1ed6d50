//! A list, and what a change of it is answered with.

use serde::Serialize;
use utoipa::ToSchema;

use super::TaskOut;
use crate::domain::{Counts, TaskId, ThreadId};

/// A list after a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListOut<'a> {
    /// What was done, for an agent to read.
    pub content: &'a str,
    /// All tasks in their order.
    pub tasks: Vec<TaskOut<'a>>,
    /// Always false: a refusal is a problem.
    pub is_error: bool,
    /// The list's revision.
    #[schema(minimum = 0)]
    pub revision: i64,
    /// Whose list.
    #[schema(value_type = String)]
    pub thread_id: &'a ThreadId,
    /// The ids of the tasks that a whole-list write dropped; absent for other operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    pub removed: Option<Vec<&'a TaskId>>,
}

/// The one task that a change was about.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MinimalOut<'a> {
    /// What was done, for an agent to read.
    pub content: &'a str,
    /// The task as it is now.
    pub task: TaskOut<'a>,
    /// Always false: a refusal is a problem.
    pub is_error: bool,
    /// The list's revision.
    #[schema(minimum = 0)]
    pub revision: i64,
}

/// What a change of one task is answered with: the list, or with `Prefer: return=minimal` the task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ChangedOut<'a> {
    /// The list.
    List(ListOut<'a>),
    /// The task.
    Task(MinimalOut<'a>),
}

/// A list as it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckOut<'a> {
    /// How things stand, for an agent to read.
    pub content: &'a str,
    /// The tasks that were asked for, in list order.
    pub tasks: Vec<TaskOut<'a>>,
    /// Always false: a refusal is a problem.
    pub is_error: bool,
    /// Counts of the whole list, whatever was asked for.
    pub summary: SummaryOut,
    /// Those of `tasks` that are not completed: in progress first, then pending.
    pub incomplete_tasks: Vec<TaskOut<'a>>,
    /// The list's revision.
    #[schema(minimum = 0)]
    pub revision: i64,
    /// Whose list.
    #[schema(value_type = String)]
    pub thread_id: &'a ThreadId,
}

/// How many tasks there are, and how far they are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "total": 3, "completed": 1, "inProgress": 1, "pending": 1, "incomplete": 2, "hasTasks": true, "allCompleted": false
}))]
pub struct SummaryOut {
    /// All of them.
    #[schema(minimum = 0)]
    pub total: usize,
    /// Those that are completed.
    #[schema(minimum = 0)]
    pub completed: usize,
    /// Those in progress.
    #[schema(minimum = 0)]
    pub in_progress: usize,
    /// Those not begun.
    #[schema(minimum = 0)]
    pub pending: usize,
    /// Those in progress or not begun.
    #[schema(minimum = 0)]
    pub incomplete: usize,
    /// Whether there are any.
    pub has_tasks: bool,
    /// Whether there are any and all are completed.
    pub all_completed: bool,
}

impl From<Counts> for SummaryOut {
    fn from(counts: Counts) -> Self {
        Self {
            total: counts.total,
            completed: counts.completed,
            in_progress: counts.in_progress,
            pending: counts.pending,
            incomplete: counts.incomplete(),
            has_tasks: counts.total > 0,
            all_completed: counts.all_completed(),
        }
    }
}
