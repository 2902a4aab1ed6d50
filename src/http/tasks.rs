//! The whole list of a thread.

use axum::extract::State;

use super::answer::{Answer, Shape};
use super::bodies::{self, TaskCreateIn, TaskWriteIn};
use super::call::Call;
use super::change::Change;
use super::extract::{JsonBody, NoBody, ThreadPath};
use super::headers::{CallerHeaders, CreateHeader, ReadHeaders, RetryHeaders, WaitHeader, WriteHeaders};
use super::problem::Problem;
use super::query::{NoQuery, TasksQuery};
use super::state::App;
use super::wire::{CheckOut, ListOut, TaskOut};
use crate::domain::{Focus, Operation};
use crate::edge::etag::list_tag;
use crate::service::Target;

/// Write the task list
///
/// Makes the thread's list, or replaces it as a whole: tasks that are left out are removed. A task that stays keeps what
/// this body cannot say: description, owner, metadata, dependencies.
#[utoipa::path(put, path = "/threads/{thread_id}/tasks", tag = "tasks",
    params(ThreadPath, CallerHeaders, WriteHeaders, CreateHeader, RetryHeaders), request_body = inline(TaskWriteIn),
    responses((status = OK, description = "The list as it is now", body = ListOut<'static>,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_write(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
    JsonBody(body): JsonBody,
) -> Result<Answer, Problem> {
    let operation = Operation::Write(bodies::task_write(&body)?);
    let change = Change { body: Some(&body), ..Change::of_list(operation, Shape::List) };
    app.change(&call, &at.thread_id, change).await
}

/// Check the task list
///
/// Shows the tasks, how many are completed, and which are not. A thread that was never written has an empty list at
/// revision 0. With `If-None-Match` and `Prefer: wait=20` it answers as soon as the list has changed.
#[utoipa::path(get, path = "/threads/{thread_id}/tasks", tag = "tasks",
    params(ThreadPath, TasksQuery, CallerHeaders, ReadHeaders, WaitHeader),
    responses(
        (status = OK, description = "The list as it is", body = CheckOut<'static>,
            headers(("ETag" = String, description = "The list's version, whatever was asked for of it"))),
        (status = NOT_MODIFIED, description = "The list is as `If-None-Match` says")
    )
)]
pub(super) async fn task_check(
    State(app): State<App>,
    at: ThreadPath,
    query: TasksQuery,
    call: Call,
) -> Result<Answer, Problem> {
    let mut list = app.read(&call, &at.thread_id, &Target::List).await?;
    let mut has_seen = call.has_seen(&list, &Target::List)?;
    let wait = call.wait.filter(|_| has_seen);
    if let Some(wait) = wait {
        list = app.wait(&call, &at.thread_id, &list, wait).await?;
        has_seen = call.has_seen(&list, &Target::List)?;
    }
    let answer = if has_seen {
        Answer::not_modified(&list_tag(&list))
    } else {
        Answer::check(&at.thread_id, &list, &query.into_filter())
    };
    Ok(answer.after_wait(wait))
}

/// Create a task
///
/// Adds one task at the end of the list. Without an id it gets the thread's next number.
#[utoipa::path(post, path = "/threads/{thread_id}/tasks", tag = "tasks",
    params(ThreadPath, CallerHeaders, WriteHeaders, CreateHeader, RetryHeaders), request_body = inline(TaskCreateIn),
    responses((status = CREATED, description = "The new task", body = TaskOut<'static>,
        headers(("Location" = String, description = "The task's path"),
            ("ETag" = String, description = "The task's version"))))
)]
pub(super) async fn task_create(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
    JsonBody(body): JsonBody,
) -> Result<Answer, Problem> {
    let draft = bodies::task_create(&body)?;
    let target = match &draft.id {
        // What must not exist yet is the task: the list may.
        Some(id) if call.only_creates() => Target::Task(id.clone()),
        Some(_) | None => Target::List,
    };
    let operation = Operation::Create { draft, focus: Focus::One };
    app.change(&call, &at.thread_id, Change { target, operation, shape: Shape::Created, body: Some(&body) }).await
}

/// Clear the task list
///
/// Removes all tasks. The thread, its revision and its history stay.
#[utoipa::path(delete, path = "/threads/{thread_id}/tasks", tag = "tasks",
    params(ThreadPath, CallerHeaders, WriteHeaders, RetryHeaders),
    responses((status = OK, description = "The empty list", body = ListOut<'static>,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn task_clear(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
    _: NoBody,
) -> Result<Answer, Problem> {
    app.change(&call, &at.thread_id, Change::of_list(Operation::Clear, Shape::List)).await
}
