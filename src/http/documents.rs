//! The documents about this interface.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::state::App;

/// Get the OpenAPI document
///
/// Describes this interface, as JSON.
#[utoipa::path(get, path = "/openapi.json", tag = "documents",
    responses((status = OK, description = "The document", body = Object, content_type = "application/json")))]
pub(super) async fn openapi_json(State(app): State<App>) -> Response {
    served("application/json", app.documents.openapi_json.clone())
}

/// Get the OpenAPI document as YAML
///
/// Describes this interface, as YAML.
#[utoipa::path(get, path = "/openapi.yaml", tag = "documents",
    responses((status = OK, description = "The document", body = Object, content_type = "application/yaml")))]
pub(super) async fn openapi_yaml(State(app): State<App>) -> Response {
    served("application/yaml", app.documents.openapi_yaml.clone())
}

/// Get the OpenAPI document for tools
///
/// Describes what agents may call in OpenAPI 3.0.3, flat and short, for importers that make a tool of each operation.
#[utoipa::path(get, path = "/openapi-tools.json", tag = "documents",
    responses((status = OK, description = "The document", body = Object, content_type = "application/json")))]
pub(super) async fn openapi_tools(State(app): State<App>) -> Response {
    served("application/json", app.documents.openapi_tools_json.clone())
}

fn served(media_type: &'static str, document: Bytes) -> Response {
    ([(CONTENT_TYPE, media_type)], document).into_response()
}
