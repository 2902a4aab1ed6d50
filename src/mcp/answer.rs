//! Answers on their way out.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use rmcp::model::{ErrorData, JsonRpcError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::gate::Refused;
use super::incoming::Incoming;
use crate::json::to_text;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Answers with an error of the protocol.
pub(super) fn refuse(refused: Refused) -> Response {
    let mut response = Response::new(Body::from(to_text(&JsonRpcError::new(None, refused.error))));
    *response.status_mut() = refused.status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Puts in what the library could not carry.
pub(super) async fn completed(response: Response, incoming: &Incoming) -> Result<Response, Refused> {
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // The body is JSON, and says so, but is no message: that is how the library puts it.
        let error = ErrorData::invalid_request("The body is no message of JSON-RPC 2.0.", None);
        return Err(Refused { status: StatusCode::BAD_REQUEST, error });
    }
    let Some(structured) = incoming.structured() else { return Ok(response) };
    let (mut parts, body) = response.into_parts();
    let failed = || {
        let error = ErrorData::internal_error("The result could not be written.", None);
        Refused { status: StatusCode::INTERNAL_SERVER_ERROR, error }
    };
    let body = body.collect().await.map_err(|_| failed())?.to_bytes();
    let mut message: Message<'_> = serde_json::from_slice(&body).map_err(|_| failed())?;
    message.result.insert("structuredContent", structured);
    parts.headers.remove(CONTENT_LENGTH);
    Ok(Response::from_parts(parts, to_text(&message).into()))
}

/// The answer to a tool call.
#[derive(Deserialize, Serialize)]
struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: &'a RawValue,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    result: BTreeMap<&'a str, &'a RawValue>,
}
