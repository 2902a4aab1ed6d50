//! One id for each request: taken from the caller if it is fit for a log line, else drawn; given back and logged.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use uuid::Uuid;

/// Where the id travels.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The most characters that are taken from a caller.
const CHARS_MAX: usize = 128;

/// The id of the request.
#[derive(Debug, Clone, Default)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Returns the id: letters, digits, `-`, `_` and `.`, so that it is also a URI reference.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id as a header's value.
    #[must_use]
    pub fn header_value(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(self.as_str()).ok()
    }

    fn of(request: &Request) -> Self {
        let given = request.headers().get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
        match given.filter(|id| is_fit(id)) {
            Some(id) => Self(id.into()),
            None => Self(Uuid::now_v7().to_string().into()),
        }
    }
}

fn is_fit(id: &str) -> bool {
    (1..=CHARS_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Gives a request its id.
#[must_use]
pub fn identified(mut request: Request) -> Request {
    let id = RequestId::of(&request);
    request.extensions_mut().insert(id);
    request
}
