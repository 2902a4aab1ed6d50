//! What is logged and how. Ids, methods, paths and times; never bodies, tokens or what people wrote.

use std::io::IsTerminal;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use tracing::{Span, field};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::config::LogFormat;
use crate::http::problem::Cause;
use crate::http::request_id::RequestId;

/// Starts logging to standard error.
///
/// # Errors
/// The filter cannot be read.
pub fn start(filter: &str, format: LogFormat) -> Result<(), ParseError> {
    // The library of MCP tells of each request thrice, and of bodies when it debugs.
    let filter: EnvFilter = format!("{filter},rmcp=warn").parse()?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let subscriber = subscriber.with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Opens the span of a request.
#[must_use]
pub fn request_span(request: &Request) -> Span {
    let id = request.extensions().get::<RequestId>().cloned().unwrap_or_default();
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    // The thread's id is put in once the path is read.
    tracing::info_span!(
        "request",
        request.id = id.as_str(),
        http.method = %request.method(),
        http.route = route,
        thread.id = field::Empty,
    )
}

/// Logs the answer to a request, and what made it fail if the service is to blame. What went well is for those who look for
/// it: a line for each call would cost more than many calls do.
pub fn log_response(response: &Response, took: Duration, _: &Span) {
    let status = response.status().as_u16();
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if let Some(cause) = response.extensions().get::<Cause>() {
        tracing::error!(http.status = status, took_us, error = cause.as_str(), "answered {status}");
    } else if response.status().is_client_error() || response.status().is_server_error() {
        tracing::info!(http.status = status, took_us, "answered {status}");
    } else {
        tracing::debug!(http.status = status, took_us, "answered {status}");
    }
}
