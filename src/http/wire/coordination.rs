//! What the coordination routes answer, as the document describes it; `toolset` writes these answers, for the coordination
//! tools answer the same.

use utoipa::ToSchema;

use super::{ChangeOut, TaskOut};

/// A claim, or what became of one.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase")]
pub struct ClaimOut {
    /// What happened, for an agent to read.
    content: String,
    /// Always false: a refusal is a problem.
    is_error: bool,
    /// The list's revision.
    #[schema(minimum = 0)]
    revision: i64,
    /// The task as it is now; absent where no task was ready.
    #[schema(nullable = false)]
    task: Option<TaskOut<'static>>,
    /// The claim; absent where there is none.
    #[schema(nullable = false)]
    lease: Option<ClaimedLeaseOut>,
}

/// A claim in the hands of its holder.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase")]
pub struct ClaimedLeaseOut {
    /// To be shown, as `X-Lease-Token` or `lease_token`, with every call that touches the task.
    #[schema(example = "1-9f86d081884c7d65")]
    token: String,
    /// When the claim ends by itself.
    #[schema(format = DateTime)]
    expires_at: String,
}

/// Changes of a list, oldest first.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase")]
pub struct HistoryOut {
    /// What happened, for an agent to read.
    content: String,
    /// Always false: a refusal is a problem.
    is_error: bool,
    /// The list's revision.
    #[schema(minimum = 0)]
    revision: i64,
    /// The changes, each with the tasks before and after it.
    changes: Vec<ChangeOut<'static>>,
    /// The oldest revision that can be restored.
    #[schema(minimum = 0)]
    oldest_revision: i64,
    /// Where the next page begins, as `after`; absent on the last one.
    #[schema(nullable = false, minimum = 0)]
    next_after: Option<i64>,
}

/// What a restore did.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase")]
pub struct RestoreOut {
    /// What happened, for an agent to read.
    content: String,
    /// Always false: a refusal is a problem.
    is_error: bool,
    /// The list's revision.
    #[schema(minimum = 0)]
    revision: i64,
    /// Ids of tasks that are there again or read as before again.
    restored: Vec<String>,
    /// Ids of tasks that came since and went.
    removed: Vec<String>,
}
