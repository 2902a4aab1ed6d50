//! Changes as they happen, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::header::VARY;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, unfold};
use utoipa::IntoParams;

use super::code::Code;
use super::extract::{ThreadPath, joined};
use super::headers::CallerHeaders;
use super::problem::Problem;
use super::query::Params;
use super::state::App;
use super::wire::{
    ChangeEventOut, ChangeOut, Detail, EventOut, ListEventOut, ResourceEventOut, TaskOut, ThreadOut, ThreadsEventOut,
};
use crate::domain::{Revision, TaskList, ThreadId};
use crate::json::to_text;
use crate::service::{
    Caller, Cursor, Error, Following, FollowingResource, Next, NextOfResource, Overview, Target, Told,
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells nginx and its kin not to hold events back.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How often a comment shows that the stream is alive.
const COMMENT_INTERVAL: Duration = Duration::from_secs(15);
/// How long a client that is sent away waits before it comes back.
const RETRY: Duration = Duration::from_secs(1);

/// The header with which a client goes on where it was.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `seen` reads the header")]
pub(super) struct LastEventIdHeader {
    /// The `id` of the last event that was seen, as browsers send it when they reconnect; goes before `after`.
    #[param(rename = "Last-Event-ID", nullable = false, required = false, example = "")]
    last_event_id: Option<String>,
}

/// From which revision on a list is followed.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsQuery {
    /// The revision that was seen; from a snapshot on if not given.
    #[param(value_type = Option<i64>, nullable = false, required = false, minimum = 0, example = 0)]
    after: Option<Revision>,
}

impl FromRequestParts<App> for EventsQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Ok(Self { after: seen(parts, revision)? })
    }
}

/// From where on all threads are followed.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ResourceEventsQuery {
    /// The `id` of the last event that was seen; from now on if not given or empty.
    #[param(value_type = Option<String>, nullable = false, required = false, example = "")]
    after: Option<Cursor>,
}

impl FromRequestParts<App> for ResourceEventsQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let after = seen(parts, |text| match text {
            "" => Ok(None),
            _ => text.parse().map(Some).map_err(|error| format!("{error}")),
        });
        Ok(Self { after: after?.flatten() })
    }
}

/// Reads where the client is: the header goes before the query.
fn seen<T>(parts: &Parts, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Problem> {
    let mut params = Params::of(&parts.uri)?;
    let after = params.take("after", &parse);
    params.close("after")?;
    let header = joined(&parts.headers, &LAST_EVENT_ID)?.filter(|id| !id.is_empty());
    let header = header.map(|id| parse(&id)).transpose();
    let header = header.map_err(|fault| Problem::at(Code::InvalidHeader, "/header/Last-Event-ID", fault))?;
    Ok(header.or(after))
}

pub(super) fn revision(text: &str) -> Result<Revision, String> {
    match text.parse() {
        Ok(number @ 0..) => Ok(Revision::new(number)),
        _ => Err("must be a revision: an integer from 0 on".to_owned()),
    }
}

/// Follow a thread's changes
///
/// A stream of server-sent events. First `snapshot` with the whole list or, after a revision that was seen, the changes that
/// were missed; then `change` for each revision as it happens, on whichever replica, each once and in order. `reset` carries
/// the whole list where no changes lead to it: the revision is too old, in the future, or the thread was deleted. The `id`
/// of an event is the list's revision. A comment comes every 15 s. A client that is too slow is disconnected and goes on
/// where it was.
#[utoipa::path(get, path = "/threads/{thread_id}/events", tag = "live",
    params(ThreadPath, EventsQuery, CallerHeaders, LastEventIdHeader),
    responses((status = OK, description = "The events; the schema is that of the `data` of each",
        body = EventOut<'static>, content_type = "text/event-stream"))
)]
pub(super) async fn thread_events(
    State(app): State<App>,
    at: ThreadPath,
    query: EventsQuery,
    caller: Caller,
) -> Result<Response, Problem> {
    let key = caller.thread(at.thread_id.clone());
    let following = app.lists.follow(&caller, &key, query.after).await;
    let following = following.map_err(|error| Problem::of_service(error, &Target::List))?;
    let thread = at.thread_id;
    let events = unfold(Some((following, thread)), |state| async move {
        let (mut following, thread) = state?;
        let (event, goes_on) = thread_event(&mut following, &thread).await;
        Some((Ok(event), goes_on.then_some((following, thread))))
    });
    Ok(stream(events))
}

/// Follow the changes of all threads
///
/// The same as for one thread, over all threads of the caller's resource. First `snapshot` with the threads or, after an
/// event that was seen, the changes that were missed; then `change` for each change of any thread. The `id` of an event is
/// opaque. After a reconnect changes may come again, which `threadId` and `revision` tell, but none is ever missing.
#[utoipa::path(get, path = "/events", tag = "live", params(ResourceEventsQuery, CallerHeaders, LastEventIdHeader),
    responses((status = OK, description = "The events; the schema is that of the `data` of each",
        body = ResourceEventOut<'static>, content_type = "text/event-stream"))
)]
pub(super) async fn resource_events(
    State(app): State<App>,
    query: ResourceEventsQuery,
    caller: Caller,
) -> Result<Response, Problem> {
    let following = app.lists.follow_resource(&caller, query.after).await;
    let following = following.map_err(|error| Problem::of_service(error, &Target::List))?;
    let events = unfold(Some(following), |state| async move {
        let mut following = state?;
        let (event, goes_on) = resource_event(&mut following).await;
        Some((Ok(event), goes_on.then_some(following)))
    });
    Ok(stream(events))
}

fn stream(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_INTERVAL)).into_response();
    let headers = response.headers_mut();
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    headers.insert(VARY, HeaderValue::from_static("X-Resource-Id"));
    response
}

/// Returns the next event, and whether more come after it.
async fn thread_event(following: &mut Following, thread: &ThreadId) -> (Event, bool) {
    match following.next().await {
        Ok(Next::Snapshot(list)) => (list_event("snapshot", thread, &list, &list.revision()), true),
        Ok(Next::Reset(list)) => (list_event("reset", thread, &list, &list.revision()), true),
        Ok(Next::Change(told)) => (change_event(thread, &told, &told.change.revision), true),
        Ok(Next::TooSlow) => (goodbye("too slow; go on from the last id"), false),
        Ok(Next::Stopping) => (goodbye("the service stops; go on from the last id"), false),
        Err(error) => (interrupted(&error), false),
    }
}

async fn resource_event(following: &mut FollowingResource) -> (Event, bool) {
    match following.next().await {
        Ok(NextOfResource::Snapshot(overview, cursor)) => (threads_event("snapshot", &overview, cursor), true),
        Ok(NextOfResource::ResetAll(overview, cursor)) => (threads_event("reset", &overview, cursor), true),
        Ok(NextOfResource::Reset(thread, list, cursor)) => (list_event("reset", &thread, &list, &cursor), true),
        Ok(NextOfResource::Change(thread, told, cursor)) => (change_event(&thread, &told, &cursor), true),
        Ok(NextOfResource::TooSlow) => (goodbye("too slow; go on from the last id"), false),
        Ok(NextOfResource::Stopping) => (goodbye("the service stops; go on from the last id"), false),
        Err(error) => (interrupted(&error), false),
    }
}

fn list_event(name: &str, thread: &ThreadId, list: &TaskList, id: &impl ToString) -> Event {
    let views = list.views();
    let tasks = views.iter().map(TaskOut::of).collect();
    let data = ListEventOut { thread_id: thread, revision: list.revision().get(), tasks };
    Event::default().event(name).id(id.to_string()).data(to_text(&data))
}

fn threads_event(name: &str, overview: &Overview, cursor: Cursor) -> Event {
    let threads = overview.threads.iter().map(ThreadOut::of).collect();
    let data = ThreadsEventOut { threads, has_more: overview.has_more };
    Event::default().event(name).id(cursor.to_string()).data(to_text(&data))
}

fn change_event(thread: &ThreadId, told: &Told, id: &impl ToString) -> Event {
    let data = told
        .written(|change| to_text(&ChangeEventOut { thread_id: thread, change: ChangeOut::of(change, Detail::After) }));
    Event::default().event("change").id(id.to_string()).data(&*data)
}

/// The last thing that a client is told. It has no name and no data, so that clients only obey it.
fn goodbye(why: &str) -> Event {
    Event::default().retry(RETRY).comment(why)
}

fn interrupted(error: &Error) -> Event {
    tracing::warn!(%error, "a stream of events was interrupted");
    goodbye("interrupted; go on from the last id")
}
