//! The bounds that hold here.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::state::App;
use super::wire::LimitsOut;
use crate::json::to_text;

/// Get the limits
///
/// Shows every bound that a list or a request must keep to.
#[utoipa::path(get, path = "/limits", tag = "operation",
    responses((status = OK, description = "The bounds", body = LimitsOut)))]
pub(super) async fn limits(State(app): State<App>) -> Response {
    let limits = LimitsOut::of(app.lists.limits(), app.rules.body_bytes_max);
    ([(CONTENT_TYPE, "application/json")], to_text(&limits)).into_response()
}
