//! From a request to a message that the library understands, and back.

use axum::body::{Body, Bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::Response;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use percent_encoding::percent_decode_str;
use rmcp::model::ErrorData;
use tracing::Span;

use super::Edge;
use super::answer::{self, refuse};
use super::incoming::{CallHeaders, Incoming};
use super::message::Message;
use crate::domain::ThreadId;
use crate::edge::{
    CallerFault, HeaderFault, IDEMPOTENCY_KEY, KeyFault, Patience, decoded, is_percent_encoded, parse_key, read_caller,
};
use crate::toolset::Toolset;
use crate::toolset::export::Selection;

const X_THREAD_ID: HeaderName = HeaderName::from_static("x-thread-id");
const X_LEASE_TOKEN: HeaderName = HeaderName::from_static("x-lease-token");
/// What the library wants every client to accept.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Why a request does not get through.
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: ErrorData,
}

impl Refused {
    fn invalid(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error: ErrorData::invalid_request(message.into(), None) }
    }
}

/// Serves the thread of the path.
pub(super) async fn in_thread(
    State(edge): State<Edge>,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    match thread_of_path(request.uri(), path) {
        Ok(thread) => serve(&edge, Some(thread), request).await,
        Err(refused) => refuse(refused),
    }
}

/// Serves the thread that a header names, or else each call.
pub(super) async fn anywhere(State(edge): State<Edge>, request: Request) -> Response {
    match decoded(request.headers(), &X_THREAD_ID, ThreadId::parse) {
        Ok(thread) => serve(&edge, thread, request).await,
        Err(fault) => refuse(Refused::invalid(fault.to_string())),
    }
}

fn thread_of_path(uri: &Uri, path: Result<RawPathParams, RawPathParamsRejection>) -> Result<ThreadId, Refused> {
    let path = path.ok().filter(|_| is_percent_encoded(uri.path().as_bytes()));
    let path = path.ok_or_else(|| Refused::invalid("The thread id in the path must be percent-encoded UTF-8."))?;
    let text = path.iter().find(|(name, _)| *name == "thread_id").map_or("", |(_, value)| value);
    ThreadId::parse(text).map_err(|fault| Refused::invalid(format!("The thread id in the path {fault}.")))
}

async fn serve(edge: &Edge, thread: Option<ThreadId>, request: Request) -> Response {
    match pass(edge, thread, request).await {
        Ok(response) => response,
        Err(refused) => refuse(refused),
    }
}

async fn pass(edge: &Edge, thread: Option<ThreadId>, request: Request) -> Result<Response, Refused> {
    let settings = &edge.0.settings;
    if let Some(thread) = &thread {
        Span::current().record("thread.id", thread.as_str());
    }
    let query = Query::of(request.uri())?;
    let names_thread = thread.is_none() && !query.by_header;
    let service =
        edge.door(query.selection, names_thread).ok_or_else(|| Refused::invalid("There are no such tools."))?;
    let (mut parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        return Ok(service.handle(Request::from_parts(parts, body)).await.map(Body::new));
    }
    accept_both(&mut parts.headers);
    let caller = match read_caller(&parts.headers, settings.require_resource) {
        Err(CallerFault::Header(fault)) => return Err(Refused::invalid(fault.to_string())),
        caller => caller,
    };
    let headers = call_headers(&parts.headers).map_err(|fault| Refused::invalid(fault.to_string()))?;
    let patience = parts.extensions.get::<Patience>().cloned().unwrap_or_default();
    let body = whole(body, settings.body_bytes_max).await?;
    let opened = Message::open(body).map_err(|error| Refused { status: StatusCode::BAD_REQUEST, error })?;
    let incoming = Incoming::new(caller, thread, headers, patience, opened.arguments);
    parts.headers.remove(CONTENT_LENGTH);
    parts.extensions.insert(incoming.clone());
    let response = service.handle(Request::from_parts(parts, Body::from(opened.body))).await.map(Body::new);
    answer::completed(response, &incoming).await
}

fn call_headers(headers: &HeaderMap) -> Result<CallHeaders, HeaderFault> {
    let fault = |fault: KeyFault| HeaderFault { name: IDEMPOTENCY_KEY, message: fault.to_string() };
    let repeat_key = headers
        .get(IDEMPOTENCY_KEY)
        .filter(|value| !value.is_empty())
        .map(|value| value.to_str().map_err(|_| KeyFault::Unprintable));
    let repeat_key = repeat_key.map(|text| text.and_then(parse_key)).transpose().map_err(fault)?;
    let token = decoded(headers, &X_LEASE_TOKEN, Ok)?.map(Into::into);
    let condition = |name: &HeaderName| {
        // What cannot be read is a tag that nothing has.
        let tags: Vec<&str> = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect();
        Some(tags.join(",")).filter(|tags| !tags.is_empty())
    };
    Ok(CallHeaders { repeat_key, token, if_match: condition(&IF_MATCH), if_none_match: condition(&IF_NONE_MATCH) })
}

/// What the query says; whatever else stands in it is passed over.
struct Query {
    /// Which tools are wanted.
    selection: Selection,
    /// Whether a header names the thread of each call, also where this request has none because it only lists the tools.
    by_header: bool,
}

impl Query {
    fn of(uri: &Uri) -> Result<Self, Refused> {
        let selection = match value_of(uri, "toolset") {
            None => Some(Selection::One(Toolset::Mastra)),
            Some(name) => name.as_deref().and_then(Selection::parse),
        };
        let by_header = match value_of(uri, "thread") {
            None => Some(false),
            Some(name) => (name.as_deref() == Some("header")).then_some(true),
        };
        let names = || Toolset::ALL.map(Toolset::as_str).join(", ");
        Ok(Self {
            selection: selection.ok_or_else(|| {
                Refused::invalid(format!("The query parameter toolset must be one of {}, all.", names()))
            })?,
            by_header: by_header.ok_or_else(|| Refused::invalid("The query parameter thread can only be header."))?,
        })
    }
}

/// Returns the value of a parameter, if it is there; the inner value is absent if there are several.
#[expect(clippy::option_option, reason = "not given, given twice, and given are three things")]
fn value_of(uri: &Uri, name: &str) -> Option<Option<String>> {
    let pairs = uri.query().unwrap_or_default().split('&');
    let mut values = pairs.filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let value = percent_decode_str(values.next()?).decode_utf8_lossy().into_owned();
    Some(values.next().is_none().then_some(value))
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// Lets clients be served that would take the JSON answer but do not say that they take a stream as well.
fn accept_both(headers: &mut HeaderMap) {
    let takes_json = |value: &HeaderValue| {
        let value = value.to_str().unwrap_or_default();
        value.split(',').any(|range| {
            let range = range.split(';').next().unwrap_or_default().trim();
            ["*/*", "application/*", "application/json"].iter().any(|wanted| range.eq_ignore_ascii_case(wanted))
        })
    };
    if !headers.contains_key(ACCEPT) || headers.get_all(ACCEPT).iter().any(takes_json) {
        headers.insert(ACCEPT, BOTH);
    }
}

async fn whole(body: Body, bytes_max: usize) -> Result<Bytes, Refused> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_too_large(error.as_ref()) => Err(Refused {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            error: ErrorData::invalid_request(format!("The body has more than {bytes_max} bytes."), None),
        }),
        Err(_) => Err(Refused::invalid("The body did not arrive.")),
    }
}

fn is_too_large(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_too_large)
}
