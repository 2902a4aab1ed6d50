//! What requests are made of: who calls, which thread and task, the query, the body. Everything that cannot be read is a
//! [`Problem`]. The only home of the framework's own extractors, whose rejections are plain text.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::IntoResponse;
use tracing::Span;
use utoipa::IntoParams;

use super::code::Code;
use super::problem::Problem;
use super::state::App;
use crate::domain::{Json, TaskId, TextFault, ThreadId};
use crate::edge::{CallerFault, is_percent_encoded, read_caller};
use crate::json;
use crate::service::Caller;
use crate::toolset::arguments::{Fault, Invalid};

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Ok(read_caller(&parts.headers, app.rules.require_resource)?)
    }
}

impl From<CallerFault> for Problem {
    fn from(fault: CallerFault) -> Self {
        match fault {
            CallerFault::ResourceRequired => {
                Self::at(Code::ResourceRequired, "/header/X-Resource-Id", "is required by this service")
            }
            CallerFault::Header(fault) => {
                Self::at(Code::InvalidHeader, format!("/header/{}", fault.name), fault.message)
            }
        }
    }
}

/// Reads a header that may stand several times, as one text. One that is empty says nothing: clients that fill in forms send
/// such.
pub(super) fn joined(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Problem> {
    let mut all: Option<String> = None;
    for value in headers.get_all(name) {
        let value = value
            .to_str()
            .map_err(|_| Problem::at(Code::InvalidHeader, format!("/header/{name}"), "must be printable ASCII"))?;
        all = Some(all.map_or_else(|| value.to_owned(), |all| format!("{all}, {value}")));
    }
    Ok(all.filter(|all| !all.trim().is_empty()))
}

/// A path that names a thread.
#[derive(Debug, Clone, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ThreadPath {
    /// The thread: one conversation or job of agents. It need not exist; it begins with its first task.
    #[param(value_type = String, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", example = "thread-1")]
    pub thread_id: ThreadId,
}

/// A path that names a task of a thread.
#[derive(Debug, Clone, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct TaskPath {
    /// The thread: one conversation or job of agents.
    #[param(value_type = String, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", example = "thread-1")]
    pub thread_id: ThreadId,
    /// The task.
    #[param(value_type = String, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", example = "task_write_the_report")]
    pub task_id: TaskId,
}

/// A path that names a tool to be called in a thread.
#[derive(Debug, Clone, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ToolPath {
    /// The thread: one conversation or job of agents. It need not exist; it begins with its first task.
    #[param(value_type = String, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", example = "thread-1")]
    pub thread_id: ThreadId,
    /// The tool, of any toolset.
    #[param(example = "task_check")]
    pub tool_name: String,
}

/// A path that names a problem's code.
#[derive(Debug, Clone, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct CodePath {
    /// The code.
    #[param(example = "unknown_task")]
    pub code: String,
}

/// The decoded parts of a path.
struct Segments(RawPathParams);

impl Segments {
    async fn of(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if !is_percent_encoded(parts.uri.path().as_bytes()) {
            return Err(Problem::at(
                Code::InvalidPath,
                "/path",
                "has a % without two hexadecimal digits: write it as %25",
            ));
        }
        let segments = RawPathParams::from_request_parts(parts, app).await;
        segments.map(Self).map_err(|_| Problem::at(Code::InvalidPath, "/path", "must be percent-encoded UTF-8"))
    }

    fn get<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, TextFault>) -> Result<T, Problem> {
        let text = self.0.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value);
        parse(text).map_err(|fault| Problem::at(Code::InvalidPath, format!("/path/{name}"), fault.to_string()))
    }

    fn thread_id(&self) -> Result<ThreadId, Problem> {
        let thread_id = self.get("thread_id", |text| ThreadId::parse(text))?;
        Span::current().record("thread.id", thread_id.as_str());
        Ok(thread_id)
    }
}

impl FromRequestParts<App> for ThreadPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let segments = Segments::of(parts, app).await?;
        Ok(Self { thread_id: segments.thread_id()? })
    }
}

impl FromRequestParts<App> for TaskPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let segments = Segments::of(parts, app).await?;
        Ok(Self { thread_id: segments.thread_id()?, task_id: segments.get("task_id", |text| TaskId::parse(text))? })
    }
}

impl FromRequestParts<App> for ToolPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let segments = Segments::of(parts, app).await?;
        let tool_name = segments.get("tool_name", |text| Ok(text.to_owned()))?;
        Ok(Self { thread_id: segments.thread_id()?, tool_name })
    }
}

impl FromRequestParts<App> for CodePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let segments = Segments::of(parts, app).await?;
        Ok(Self { code: segments.get("code", |text| Ok(text.to_owned()))? })
    }
}

/// A body that must be JSON.
#[derive(Debug)]
pub struct JsonBody(pub Json);

impl FromRequest<App> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(Code::UnsupportedMediaType));
        }
        let bytes = bytes(request, app).await?;
        parse(&bytes).map(Self)
    }
}

/// A body that is JSON or nothing.
#[derive(Debug)]
pub struct OptionalBody(pub Option<Json>);

impl FromRequest<App> for OptionalBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let is_json = is_json(request.headers());
        let bytes = bytes(request, app).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(None));
        }
        if !is_json {
            return Err(Problem::new(Code::UnsupportedMediaType));
        }
        parse(&bytes).map(Some).map(Self)
    }
}

/// No body: it is empty, or an object without members, which some clients send with every request.
#[derive(Debug)]
pub struct NoBody;

impl FromRequest<App> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let fault = |pointer: String, message: &str| Fault { pointer, message: message.to_owned() };
        let faults = match OptionalBody::from_request(request, app).await?.0 {
            None => return Ok(Self),
            Some(Json::Object(members)) if members.is_empty() => return Ok(Self),
            Some(Json::Object(members)) => members
                .iter()
                .map(|(key, _)| {
                    let pointer = format!("/{}", json::pointer_token(key));
                    fault(
                        pointer,
                        "is unknown: this operation takes no body, and a claim's token in the header X-Lease-Token",
                    )
                })
                .collect(),
            Some(_) => vec![fault(String::new(), "must be empty: this operation takes no body")],
        };
        Err(Problem::invalid(Code::InvalidBody, Invalid { faults, ..Invalid::default() }))
    }
}

async fn bytes(request: Request, app: &App) -> Result<Bytes, Problem> {
    let too_large = || {
        let text =
            format!("The body has more than {} bytes, which is the most there may be.", app.rules.body_bytes_max);
        Problem::new(Code::BodyTooLarge).says(text)
    };
    Bytes::from_request(request, app).await.map_err(|rejection| {
        let code = Code::of_status(rejection.into_response().status());
        if code == Code::BodyTooLarge { too_large() } else { Problem::new(code) }
    })
}

fn parse(bytes: &[u8]) -> Result<Json, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Problem::at(Code::MalformedJson, "", "is not UTF-8").says("The body is not JSON: it is not UTF-8.")
    })?;
    Ok(json::parse(text)?)
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
