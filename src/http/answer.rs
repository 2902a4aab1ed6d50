//! Answers as values: written once, sent, and written down so that a repeated call gets the same one again.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, LOCATION, VARY};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use super::wire::{CheckOut, ListOut, MinimalOut, TaskOut, ThreadOut};
use crate::domain::{Filter, Operation, Outcome, Status, TaskId, TaskList, TaskView, ThreadId};
use crate::edge::etag::{list_tag, revision_tag, task_tag};
use crate::json::to_text;
use crate::service::Done;
use crate::tool_call::ToolAnswer;
use crate::toolset::{self, Ask, Tool, headline, list_text};

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Everything but what RFC 3986 calls unreserved.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An answer about what belongs to a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preference_applied: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip)]
    is_replayed: bool,
}

/// What the answer to a change shows.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// The list.
    List,
    /// The list, under the version of the task that the change was about.
    ListOfTask,
    /// The task that the change was about, because that is all the caller wants.
    Minimal,
    /// The task that was created.
    Created,
    /// Nothing: what the change was about is gone.
    Nothing,
    /// What the tool of this name answers.
    Tool(&'static Tool),
}

impl Shape {
    /// Shows what a tool answers; the list if there is no such tool.
    #[must_use]
    pub fn of_tool(name: &str) -> Self {
        toolset::find(name).map_or(Self::List, Self::Tool)
    }
}

impl Answer {
    fn new(status: StatusCode, etag: Option<&HeaderValue>, body: Option<String>) -> Self {
        let etag = etag.and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        Self { status: status.as_u16(), etag, location: None, preference_applied: None, body, is_replayed: false }
    }

    /// Says that the caller has the newest state already.
    #[must_use]
    pub fn not_modified(etag: &HeaderValue) -> Self {
        Self::new(StatusCode::NOT_MODIFIED, Some(etag), None)
    }

    /// Says that it was waited for, if it was.
    #[must_use]
    pub fn after_wait(self, wait: Option<Duration>) -> Self {
        match wait {
            Some(wait) => Self { preference_applied: Some(format!("wait={}", wait.as_secs())), ..self },
            None => self,
        }
    }

    /// Answers with a JSON body.
    #[must_use]
    pub fn ok(etag: Option<&HeaderValue>, body: &impl Serialize) -> Self {
        Self::new(StatusCode::OK, etag, Some(to_text(body)))
    }

    /// Answers a change.
    #[must_use]
    pub fn of_change(shape: Shape, operation: &Operation, thread: &ThreadId, done: &Done) -> Self {
        let view = done.outcome.task.as_ref().and_then(|id| done.list.view(id));
        match (shape, view) {
            (Shape::Tool(tool), _) => {
                let call = toolset::Call::of(tool, Ask::Change(operation.clone()));
                let result = call.answered(&done.list, &done.outcome, done.changed);
                Self::ok(Some(&list_tag(&done.list)), &result)
            }
            (Shape::Nothing, _) => Self::new(StatusCode::NO_CONTENT, None, None),
            (Shape::Created, Some(view)) => Self::created(thread, &view),
            (Shape::Minimal, Some(view)) => Self::minimal(operation, done, &view),
            (Shape::ListOfTask, Some(view)) => Self::list(operation, thread, done, &task_tag(&view.task)),
            (Shape::List | Shape::ListOfTask | Shape::Minimal | Shape::Created, _) => {
                Self::list(operation, thread, done, &list_tag(&done.list))
            }
        }
    }

    fn list(operation: &Operation, thread: &ThreadId, done: &Done, etag: &HeaderValue) -> Self {
        let views = done.list.views();
        let removed = matches!(operation, Operation::Write(_))
            .then(|| done.outcome.removed.iter().map(|view| &view.task.id).collect());
        let body = ListOut {
            content: &text_of(operation, done),
            tasks: views.iter().map(TaskOut::of).collect(),
            is_error: false,
            revision: done.list.revision().get(),
            thread_id: thread,
            removed,
        };
        Self::ok(Some(etag), &body)
    }

    fn minimal(operation: &Operation, done: &Done, view: &TaskView) -> Self {
        let body = MinimalOut {
            content: &headline(Some(operation), &done.list, &done.outcome, done.changed),
            task: TaskOut::of(view),
            is_error: false,
            revision: done.list.revision().get(),
        };
        let preference_applied = Some("return=minimal".to_owned());
        Self { preference_applied, ..Self::ok(Some(&task_tag(&view.task)), &body) }
    }

    fn created(thread: &ThreadId, view: &TaskView) -> Self {
        let location = Some(task_path(thread, &view.task.id));
        let body = Some(to_text(&TaskOut::of(view)));
        Self { location, ..Self::new(StatusCode::CREATED, Some(&task_tag(&view.task)), body) }
    }

    /// Answers with the list as it is, narrowed to what was asked for.
    #[must_use]
    pub fn check(thread: &ThreadId, list: &TaskList, filter: &Filter) -> Self {
        let views: Vec<TaskView> = list.views().into_iter().filter(|view| filter.admits(view)).collect();
        let incomplete = |status: Status| views.iter().map(TaskOut::of).filter(move |task| task.status == status);
        let body = CheckOut {
            content: &list_text(None, list, &Outcome::default(), false, &[]),
            tasks: views.iter().map(TaskOut::of).collect(),
            is_error: false,
            summary: list.counts().into(),
            incomplete_tasks: incomplete(Status::InProgress).chain(incomplete(Status::Pending)).collect(),
            revision: list.revision().get(),
            thread_id: thread,
        };
        Self::ok(Some(&list_tag(list)), &body)
    }

    /// Answers with one task as it is.
    #[must_use]
    pub fn task(view: &TaskView) -> Self {
        Self::ok(Some(&task_tag(&view.task)), &TaskOut::of(view))
    }

    /// Answers with a thread as it is.
    #[must_use]
    pub fn thread(thread: &ThreadId, list: &TaskList) -> Self {
        Self::ok(Some(&list_tag(list)), &ThreadOut::of_list(thread, list))
    }

    /// Answers a tool call.
    #[must_use]
    pub fn tool(answer: ToolAnswer) -> Self {
        let etag = revision_tag(answer.revision, answer.change_id);
        let is_replayed = answer.is_replayed;
        Self { is_replayed, ..Self::new(StatusCode::OK, Some(&etag), Some(Box::<str>::from(answer.body).into())) }
    }

    /// Answers a tool call that cannot be done, in the toolset's own form.
    #[must_use]
    pub fn tool_failed(tool: &Tool, sentence: &str) -> Self {
        Self::ok(None, &toolset::failed(tool, sentence, None))
    }

    /// Writes the answer down for repeated calls.
    #[must_use]
    pub fn written_down(&self) -> String {
        to_text(self)
    }

    /// Reads an answer that was written down.
    ///
    /// # Errors
    /// The text is none.
    pub fn replayed(text: &str) -> Result<Self, serde_json::Error> {
        let answer: Self = serde_json::from_str(text)?;
        Ok(Self { is_replayed: true, ..answer })
    }
}

fn text_of(operation: &Operation, done: &Done) -> String {
    list_text(Some(operation), &done.list, &done.outcome, done.changed, &[])
}

fn task_path(thread: &ThreadId, task: &TaskId) -> String {
    let segment = |text| utf8_percent_encode(text, SEGMENT);
    format!("/threads/{}/tasks/{}", segment(thread.as_str()), segment(task.as_str()))
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = match self.body {
            Some(body) => ([(CONTENT_TYPE, "application/json")], Body::from(body)).into_response(),
            None => Body::empty().into_response(),
        };
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(VARY, HeaderValue::from_static("X-Resource-Id, Prefer"));
        let replayed = self.is_replayed.then(|| "true".to_owned());
        for (name, value) in [
            (ETAG, self.etag),
            (LOCATION, self.location),
            (PREFERENCE_APPLIED, self.preference_applied),
            (IDEMPOTENCY_REPLAYED, replayed),
        ] {
            // Tags, percent-encoded paths and constants are fit for any header.
            if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
                headers.insert(name, value);
            }
        }
        response
    }
}
