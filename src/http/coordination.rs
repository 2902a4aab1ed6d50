//! Claims, history and restores.

use axum::extract::State;

use super::answer::{Answer, Shape};
use super::bodies::coordination::{self as bodies, ClaimIn, HeartbeatIn, ReleaseIn, RestoreIn};
use super::call::Call;
use super::change::Change;
use super::extract::{JsonBody, OptionalBody, TaskPath, ThreadPath};
use super::headers::{CallerHeaders, RetryHeaders, TokenHeader, WriteHeaders};
use super::problem::Problem;
use super::query::{HistoryQuery, NoQuery};
use super::state::App;
use super::wire::{ClaimOut, HistoryOut, RestoreOut};
use crate::domain::{Claim, Operation};
use crate::service::Target;

/// Claim the next task
///
/// Takes the first task that is ready (pending, unowned, no open blocker) for one owner: of any number of callers exactly
/// one gets it. Where no task is ready, the answer says why and has no task.
#[utoipa::path(post, path = "/threads/{thread_id}/claim", tag = "coordination",
    params(ThreadPath, CallerHeaders, RetryHeaders), request_body = inline(ClaimIn),
    responses((status = OK, description = "The task and the claim on it, or why there is none", body = ClaimOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_claim(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
    JsonBody(body): JsonBody,
) -> Result<Answer, Problem> {
    let operation = Operation::Claim(bodies::claim(&body)?);
    let change = Change { target: Target::List, operation, shape: Shape::of_tool("task_claim"), body: Some(&body) };
    app.change(&call, &at.thread_id, change).await
}

/// Claim a task
///
/// Takes this task for one owner. Claiming it again as its holder returns the same claim.
#[utoipa::path(post, path = "/threads/{thread_id}/tasks/{task_id}/claim", tag = "coordination",
    params(TaskPath, CallerHeaders, RetryHeaders), request_body = inline(ClaimIn),
    responses((status = OK, description = "The task and the claim on it", body = ClaimOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_claim_one(
    State(app): State<App>,
    at: TaskPath,
    _: NoQuery,
    call: Call,
    JsonBody(body): JsonBody,
) -> Result<Answer, Problem> {
    let claim = Claim { id: Some(at.task_id.clone()), ..bodies::claim(&body)? };
    let (target, operation) = (Target::Task(at.task_id), Operation::Claim(claim));
    let change = Change { target, operation, shape: Shape::of_tool("task_claim"), body: Some(&body) };
    app.change(&call, &at.thread_id, change).await
}

/// Give a task back
///
/// Makes a claimed task pending and nobody's again: with the claim's token, or with `force` where its holder is dead.
#[utoipa::path(post, path = "/threads/{thread_id}/tasks/{task_id}/release", tag = "coordination",
    params(TaskPath, CallerHeaders, WriteHeaders, TokenHeader, RetryHeaders), request_body = inline(ReleaseIn),
    responses((status = OK, description = "The task as it is now", body = ClaimOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_release(
    State(app): State<App>,
    at: TaskPath,
    _: NoQuery,
    call: Call,
    OptionalBody(body): OptionalBody,
) -> Result<Answer, Problem> {
    let (force, token) = bodies::release(body.as_ref())?;
    let operation = Operation::Release { id: at.task_id.clone(), force };
    let target = Target::Task(at.task_id);
    let change = Change { target, operation, shape: Shape::of_tool("task_release"), body: body.as_ref() };
    app.change(&call.with_token(token), &at.thread_id, change).await
}

/// Hold a task for longer
///
/// Makes a claim last from now on for as long as is said. No reader sees a difference.
#[utoipa::path(post, path = "/threads/{thread_id}/tasks/{task_id}/heartbeat", tag = "coordination",
    params(TaskPath, CallerHeaders, TokenHeader, RetryHeaders), request_body = inline(HeartbeatIn),
    responses((status = OK, description = "The task and the claim on it", body = ClaimOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_heartbeat(
    State(app): State<App>,
    at: TaskPath,
    _: NoQuery,
    call: Call,
    OptionalBody(body): OptionalBody,
) -> Result<Answer, Problem> {
    let (lease_seconds, token) = bodies::heartbeat(body.as_ref())?;
    let operation = Operation::Heartbeat { id: at.task_id.clone(), lease_seconds };
    let target = Target::Task(at.task_id);
    let change = Change { target, operation, shape: Shape::of_tool("task_heartbeat"), body: body.as_ref() };
    app.change(&call.with_token(token), &at.thread_id, change).await
}

/// See what changed
///
/// Shows who changed the list, when and how, oldest first, with the tasks before and after.
#[utoipa::path(get, path = "/threads/{thread_id}/history", tag = "coordination",
    params(ThreadPath, HistoryQuery, CallerHeaders),
    responses((status = OK, description = "One page of changes", body = HistoryOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_history(
    State(app): State<App>,
    at: ThreadPath,
    query: HistoryQuery,
    call: Call,
) -> Result<Answer, Problem> {
    app.history(&call, &at.thread_id, query.into_ask()).await
}

/// Undo changes
///
/// Makes the list what it was at an earlier revision that is still kept. It is itself a change and can be undone.
#[utoipa::path(post, path = "/threads/{thread_id}/restore", tag = "coordination",
    params(ThreadPath, CallerHeaders, WriteHeaders, RetryHeaders), request_body = inline(RestoreIn),
    responses((status = OK, description = "What was brought back and what went", body = RestoreOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_restore(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
    JsonBody(body): JsonBody,
) -> Result<Answer, Problem> {
    let operation = Operation::Restore { revision: bodies::restore(&body)?, since: Vec::new() };
    let change = Change { target: Target::List, operation, shape: Shape::of_tool("task_restore"), body: Some(&body) };
    app.change(&call, &at.thread_id, change).await
}
