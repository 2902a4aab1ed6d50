//! One task of a list.

use axum::extract::State;

use super::answer::{Answer, Shape};
use super::bodies::{self, TaskUpdateIn};
use super::call::Call;
use super::change::Change;
use super::extract::{JsonBody, NoBody, TaskPath};
use super::headers::{CallerHeaders, PreferHeader, ReadHeaders, RetryHeaders, TokenHeader, WriteHeaders};
use super::problem::Problem;
use super::query::NoQuery;
use super::state::App;
use super::wire::{ChangedOut, TaskOut};
use crate::domain::{Focus, Operation, Refusal};
use crate::edge::etag::task_tag;
use crate::service::Target;

/// Get a task
#[utoipa::path(get, path = "/threads/{thread_id}/tasks/{task_id}", tag = "tasks",
    description = "Shows one task with its dependencies from both sides.",
    params(TaskPath, CallerHeaders, ReadHeaders),
    responses(
        (status = OK, description = "The task as it is", body = TaskOut<'static>,
            headers(("ETag" = String, description = "The task's version"))),
        (status = NOT_MODIFIED, description = "The task is as `If-None-Match` says")
    )
)]
pub(super) async fn task_get(State(app): State<App>, at: TaskPath, _: NoQuery, call: Call) -> Result<Answer, Problem> {
    let target = Target::Task(at.task_id.clone());
    let list = app.read(&call, &at.thread_id, &target).await?;
    let Some(view) = list.view(&at.task_id) else {
        let refusal = Refusal::UnknownTask { id: at.task_id, available: list.ids() };
        return Err(Problem::refused(&refusal, list));
    };
    if call.has_seen(&list, &target)? {
        return Ok(Answer::not_modified(&task_tag(&view.task)));
    }
    Ok(Answer::task(&view))
}

/// Update a task
///
/// Changes the given fields of one task. Setting it to `in_progress` puts its owner's other task in progress back to
/// `pending`.
#[utoipa::path(patch, path = "/threads/{thread_id}/tasks/{task_id}", tag = "tasks",
    params(TaskPath, CallerHeaders, WriteHeaders, PreferHeader, TokenHeader, RetryHeaders), request_body = inline(TaskUpdateIn),
    responses((status = OK, description = "The list as it is now, or with `Prefer: return=minimal` the task",
        body = ChangedOut<'static>, headers(("ETag" = String, description = "The task's version"))))
)]
pub(super) async fn task_update(
    State(app): State<App>,
    at: TaskPath,
    _: NoQuery,
    call: Call,
    JsonBody(body): JsonBody,
) -> Result<Answer, Problem> {
    let patch = bodies::task_update(&body)?;
    let operation = Operation::Update { id: at.task_id.clone(), patch, focus: Focus::One };
    let change = Change { target: Target::Task(at.task_id), operation, shape: shape(&call), body: Some(&body) };
    app.change(&call, &at.thread_id, change).await
}

/// Complete a task
///
/// Marks one task as completed. Completing it twice does no harm.
#[utoipa::path(post, path = "/threads/{thread_id}/tasks/{task_id}/complete", tag = "tasks",
    params(TaskPath, CallerHeaders, WriteHeaders, PreferHeader, TokenHeader, RetryHeaders),
    responses((status = OK, description = "The list as it is now, or with `Prefer: return=minimal` the task",
        body = ChangedOut<'static>, headers(("ETag" = String, description = "The task's version"))))
)]
pub(super) async fn task_complete(
    State(app): State<App>,
    at: TaskPath,
    _: NoQuery,
    call: Call,
    _: NoBody,
) -> Result<Answer, Problem> {
    let operation = Operation::Complete(at.task_id.clone());
    let change = Change { target: Target::Task(at.task_id), operation, shape: shape(&call), body: None };
    app.change(&call, &at.thread_id, change).await
}

/// Delete a task
///
/// Removes one task and its dependencies for good, even if its id comes back.
#[utoipa::path(delete, path = "/threads/{thread_id}/tasks/{task_id}", tag = "tasks",
    params(TaskPath, CallerHeaders, WriteHeaders, TokenHeader, RetryHeaders),
    responses((status = NO_CONTENT, description = "The task is gone"))
)]
pub(super) async fn task_delete(
    State(app): State<App>,
    at: TaskPath,
    _: NoQuery,
    call: Call,
    _: NoBody,
) -> Result<Answer, Problem> {
    let operation = Operation::Delete(at.task_id.clone());
    let change = Change { target: Target::Task(at.task_id), operation, shape: Shape::Nothing, body: None };
    app.change(&call, &at.thread_id, change).await
}

fn shape(call: &Call) -> Shape {
    if call.prefers_minimal { Shape::Minimal } else { Shape::ListOfTask }
}
