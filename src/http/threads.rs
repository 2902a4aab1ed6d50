//! The threads of a resource.

use axum::extract::State;

use super::answer::{Answer, Shape};
use super::call::Call;
use super::change::Change;
use super::code::Code;
use super::cursor;
use super::extract::{NoBody, ThreadPath};
use super::headers::{CallerHeaders, ReadHeaders, RetryHeaders, WriteHeaders};
use super::problem::Problem;
use super::query::{NoQuery, ThreadsQuery};
use super::state::App;
use super::wire::{ThreadOut, ThreadsOut};
use crate::domain::Operation;
use crate::edge::etag::list_tag;
use crate::service::{Caller, Target};
use crate::store::{ThreadPlace, ThreadQuery};

/// List the threads
///
/// Shows the threads of the caller's resource that have a list, newest activity first, with how far each is.
#[utoipa::path(get, path = "/threads", tag = "threads", params(ThreadsQuery, CallerHeaders),
    responses((status = OK, description = "One page of threads", body = ThreadsOut<'static>))
)]
pub(super) async fn thread_list(
    State(app): State<App>,
    query: ThreadsQuery,
    caller: Caller,
) -> Result<Answer, Problem> {
    // One more than asked for tells whether there is a next page.
    let asked = ThreadQuery { resource: caller.resource.clone(), after: query.cursor, limit: query.limit + 1 };
    let entries = app.lists.threads(&caller, &asked).await;
    let entries = entries.map_err(|error| Problem::of_service(error, &Target::List))?;
    let page = entries.get(..query.limit as usize);
    let last = page.and_then(|page| page.last()).filter(|_| entries.len() > query.limit as usize);
    let next = last.map(|last| ThreadPlace { updated_at: last.updated_at, thread: last.thread.clone() });
    let threads = page.unwrap_or(&entries).iter().map(ThreadOut::of).collect();
    Ok(Answer::ok(None, &ThreadsOut { threads, next_cursor: next.as_ref().map(cursor::write) }))
}

/// Get a thread
///
/// Shows how far one thread's list is, without its tasks.
#[utoipa::path(get, path = "/threads/{thread_id}", tag = "threads", params(ThreadPath, CallerHeaders, ReadHeaders),
    responses(
        (status = OK, description = "The thread", body = ThreadOut<'static>,
            headers(("ETag" = String, description = "The list's version"))),
        (status = NOT_MODIFIED, description = "The list is as `If-None-Match` says")
    )
)]
pub(super) async fn thread_get(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
) -> Result<Answer, Problem> {
    let list = app.read(&call, &at.thread_id, &Target::List).await?;
    if !list.exists() {
        return Err(Problem::new(Code::UnknownThread));
    }
    if call.has_seen(&list, &Target::List)? {
        return Ok(Answer::not_modified(&list_tag(&list)));
    }
    Ok(Answer::thread(&at.thread_id, &list))
}

/// Delete a thread
///
/// Removes the thread's tasks and its history. A later list under the same id goes on from its revision.
#[utoipa::path(delete, path = "/threads/{thread_id}", tag = "threads", params(ThreadPath, CallerHeaders, WriteHeaders, RetryHeaders),
    responses((status = NO_CONTENT, description = "The thread is gone"))
)]
pub(super) async fn thread_delete(
    State(app): State<App>,
    at: ThreadPath,
    _: NoQuery,
    call: Call,
    _: NoBody,
) -> Result<Answer, Problem> {
    app.change(&call, &at.thread_id, Change::of_list(Operation::DeleteThread, Shape::Nothing)).await
}
