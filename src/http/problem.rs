//! Every answer that says no: RFC 9457 problems, and the one place where errors become status, code and text.
//!
//! A [`Problem`] rides through the middleware as an extension of an empty answer, so that [`rendered`], which wraps all
//! else, can write the request's id into it. `render` also turns whatever the framework refused by itself into a
//! problem. A 5xx says nothing but its code; its [`Cause`] stays an extension and is logged once, by the outermost layer.

use std::sync::Arc;

use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::code::Code;
use super::request_id::RequestId;
use super::wire::{FaultOut, ProblemOut, TaskOut};
use crate::domain::{Moment, Owner, Refusal, Revision, TaskId, TaskList};
use crate::edge::etag::{list_tag, task_tag};
use crate::json::{JsonFault, to_text};
use crate::service::{self, Target};
use crate::store::StoreError;
use crate::tool_call;
use crate::toolset::arguments::{Fault, Invalid};
use crate::toolset::refusal_text::sentence;

/// The media type of problems.
pub const PROBLEM_JSON: &str = "application/problem+json";
/// How long a caller should wait before the same request may succeed.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// Why a request was not answered as it wished.
#[derive(Debug, Clone)]
pub struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    code: Code,
    /// What happened and what to do next; the code's meaning if nothing better is known.
    sentence: Option<String>,
    faults: Vec<Fault>,
    available: Option<Vec<TaskId>>,
    cycle: Option<Vec<TaskId>>,
    holder: Option<Owner>,
    expires_at: Option<Moment>,
    list: Option<TaskList>,
    etag: Option<HeaderValue>,
    cause: Option<Cause>,
}

/// What made a request fail, for the log and nobody else.
#[derive(Debug, Clone)]
pub struct Cause(Arc<str>);

impl Cause {
    /// Keeps a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Walks an error and what caused it.
    fn of(error: &dyn std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            text.push_str(": ");
            text.push_str(&error.to_string());
            source = error.source();
        }
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Problem {
    /// Makes a problem that says what its code means.
    #[must_use]
    pub fn new(code: Code) -> Self {
        let parts = Parts {
            code,
            sentence: None,
            faults: Vec::new(),
            available: None,
            cycle: None,
            holder: None,
            expires_at: None,
            list: None,
            etag: None,
            cause: None,
        };
        Self(Box::new(parts))
    }

    /// Makes a problem about one place of the request: a JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`.
    #[must_use]
    pub fn at(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid(code, Invalid::one(pointer, message))
    }

    /// Makes a problem of all that is wrong with a part of the request.
    #[must_use]
    pub fn invalid(code: Code, invalid: Invalid) -> Self {
        Self::new(code).says(invalid.sentence()).with(|parts| parts.faults = invalid.faults)
    }

    /// Makes a 500 whose cause only the log sees.
    #[must_use]
    pub fn internal(cause: Cause) -> Self {
        Self::new(Code::Internal).with(|parts| parts.cause = Some(cause))
    }

    /// Says something more telling than the code's meaning.
    #[must_use]
    pub fn says(self, sentence: impl Into<String>) -> Self {
        self.with(|parts| parts.sentence = Some(sentence.into()))
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns what happened and what to do next. What led to a 5xx is no business of the caller: there it is constant.
    #[must_use]
    pub fn sentence(&self) -> &str {
        let is_constant = self.0.code.status().is_server_error();
        self.0.sentence.as_deref().filter(|_| !is_constant).unwrap_or(self.0.code.meaning())
    }

    /// Takes what is wrong with a body that is JSON out of it, if it is about that.
    ///
    /// # Errors
    /// Itself, if it is about something else.
    pub fn into_invalid(self) -> Result<Invalid, Self> {
        if self.0.code == Code::InvalidBody {
            Ok(Invalid { faults: self.0.faults, ..Invalid::default() })
        } else {
            Err(self)
        }
    }

    /// Translates a refusal; the unchanged list comes along.
    #[must_use]
    pub fn refused(refusal: &Refusal, list: TaskList) -> Self {
        let text = sentence(refusal);
        let (code, available, cycle) = match refusal {
            Refusal::UnknownTask { available, .. } => (Code::UnknownTask, Some(available), None),
            Refusal::UnknownThread => (Code::UnknownThread, None, None),
            Refusal::TaskExists { .. } => (Code::TaskExists, None, None),
            Refusal::SeveralInProgress { .. } => (Code::SeveralInProgress, None, None),
            Refusal::SelfDependency { .. } => (Code::SelfDependency, None, None),
            Refusal::UnknownDependency { available, .. } => (Code::UnknownDependency, Some(available), None),
            Refusal::Cycle { path, .. } => (Code::DependencyCycle, None, Some(path)),
            Refusal::Held { .. } => (Code::TaskHeld, None, None),
            Refusal::LeaseEnded { .. } => (Code::LeaseEnded, None, None),
            Refusal::NotClaimed { .. } => (Code::TaskNotClaimed, None, None),
            Refusal::AlreadyCompleted { .. } => (Code::TaskCompleted, None, None),
            Refusal::Blocked { blockers, .. } => (Code::TaskBlocked, Some(blockers), None),
            Refusal::FutureRevision { .. } => (Code::FutureRevision, None, None),
            Refusal::RevisionNotKept { .. } => (Code::RevisionNotKept, None, None),
            Refusal::TooManyTasks { .. } => (Code::TooManyTasks, None, None),
            Refusal::ListTooLarge { .. } => (Code::ListTooLarge, None, None),
            Refusal::DescriptionTooLarge { .. } => (Code::DescriptionTooLarge, None, None),
            Refusal::MetadataTooLarge { .. } => (Code::MetadataTooLarge, None, None),
            Refusal::MetadataTooDeep { .. } => (Code::MetadataTooDeep, None, None),
        };
        let held = match refusal {
            Refusal::Held { holder, expires_at, .. } => Some((holder.clone(), *expires_at)),
            _ => None,
        };
        Self::new(code).says(text).with(|parts| {
            if let Some((holder, expires_at)) = held {
                parts.holder = Some(holder);
                parts.expires_at = expires_at;
            }
            parts.available = available.cloned();
            parts.cycle = cycle.cloned();
            parts.list = Some(list);
        })
    }

    /// Translates what the service says; `target` is whose state the answer's `ETag` is about.
    #[must_use]
    pub fn of_service(error: service::Error, target: &Target) -> Self {
        match error {
            service::Error::Refused { refusal, list } => Self::refused(&refusal, *list),
            service::Error::PreconditionFailed { list } => Self::precondition_failed(*list, target),
            service::Error::KeyReused => Self::new(Code::KeyReused),
            service::Error::Forbidden => Self::new(Code::Forbidden),
            service::Error::Busy => Self::new(Code::Busy),
            service::Error::Undecided => Self::new(Code::OutcomeUnknown),
            service::Error::Store(error) => {
                let code = match *error {
                    StoreError::Unavailable(_) | StoreError::Database(_) => Code::StoreUnavailable,
                    StoreError::Unknown(_) => Code::OutcomeUnknown,
                    StoreError::Corrupt { .. } => Code::Internal,
                };
                Self::new(code).with(|parts| parts.cause = Some(Cause::of(&error)))
            }
            service::Error::Stopped => Self::internal(Cause::new("a call was given up without an answer")),
        }
    }

    pub(super) fn precondition_failed(list: TaskList, target: &Target) -> Self {
        let etag = match target {
            Target::List => Some(list_tag(&list)),
            Target::Task(id) => list.get(id).map(|task| task_tag(task)),
        };
        let text = match target {
            Target::List => format!(
                "The condition does not hold, nothing was changed: the list is at revision {} now. Look at its tasks and \
                 decide again.",
                list.revision()
            ),
            Target::Task(id) => format!(
                "The condition does not hold, nothing was changed: the task is at revision {} now, whatever the list's is. \
                 Look at the task and decide again.",
                list.get(id).map(|task| task.revision).unwrap_or_default()
            ),
        };
        Self::new(Code::PreconditionFailed).says(text).with(|parts| {
            parts.list = Some(list);
            parts.etag = etag;
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(&mut self.0);
        self
    }

    /// Writes the body.
    fn text(&self, request_id: &str) -> String {
        let Parts { code, faults, available, cycle, holder, expires_at, list, .. } = &*self.0;
        let sentence = self.sentence();
        let views = list.as_ref().map(TaskList::views);
        to_text(&ProblemOut {
            r#type: format!("/problems/{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: sentence,
            instance: request_id,
            code: *code,
            is_error: true,
            content: sentence,
            errors: faults.iter().map(|Fault { pointer, message }| FaultOut { pointer, message }).collect(),
            available_task_ids: available.as_deref(),
            cycle: cycle.as_deref(),
            holder: holder.as_ref(),
            expires_at: *expires_at,
            revision: list.as_ref().map(TaskList::revision).map(Revision::get),
            tasks: views.as_ref().map(|views| views.iter().map(TaskOut::of).collect()),
        })
    }
}

impl From<tool_call::Error> for Problem {
    fn from(error: tool_call::Error) -> Self {
        match error {
            tool_call::Error::Service(error) => Self::of_service(error, &Target::List),
            tool_call::Error::Replay(_) => Self::internal(Cause::of(&error)),
        }
    }
}

impl From<JsonFault> for Problem {
    fn from(fault: JsonFault) -> Self {
        match fault {
            JsonFault::Syntax { message } => {
                Self::at(Code::MalformedJson, "", message).says("The body is not JSON. Send one JSON value.")
            }
            JsonFault::Unkeepable { pointer, message } => Self::at(Code::InvalidBody, pointer, message),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.0.code.status().into_response();
        if let Some(etag) = &self.0.etag {
            response.headers_mut().insert(ETAG, etag.clone());
        }
        if self.0.code.status() == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        if let Some(cause) = &self.0.cause {
            response.extensions_mut().insert(cause.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes a problem down with the request's id, one of the framework included. Every other answer stays as it is.
#[must_use]
pub fn rendered(mut response: Response, request_id: &RequestId) -> Response {
    let problem = match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem,
        None if is_bare_failure(&response) => Problem::new(Code::of_status(response.status())),
        None => return response,
    };
    let (mut parts, _) = response.into_parts();
    parts.status = problem.0.code.status();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    Response::from_parts(parts, problem.text(request_id.as_str()).into())
}

/// Tells whether a refusal says nothing for programs. MCP's errors are JSON of their own and stay as they are.
fn is_bare_failure(response: &Response) -> bool {
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    !is_json && (response.status().is_client_error() || response.status().is_server_error())
}
