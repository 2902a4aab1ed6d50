//! Whether the service lives and is ready, for whoever runs it.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::code::Code;
use super::problem::Problem;
use super::state::App;
use super::wire::HealthOut;
use crate::json::to_text;
use crate::service::Target;

/// Tell whether the service lives
///
/// Never asks the database: a service that cannot reach it is not cured by a restart.
#[utoipa::path(get, path = "/livez", tag = "operation",
    responses((status = OK, description = "It lives", body = HealthOut)))]
pub(super) async fn livez() -> Response {
    ok()
}

/// Tell whether the service is ready
///
/// Asks the database, and says no once the service is about to end.
#[utoipa::path(get, path = "/readyz", tag = "operation",
    responses((status = OK, description = "It is ready for requests", body = HealthOut)))]
pub(super) async fn readyz(State(app): State<App>) -> Result<Response, Problem> {
    if app.draining.has_begun() {
        return Err(Problem::new(Code::Draining));
    }
    app.lists.ping().await.map_err(|error| Problem::of_service(error, &Target::List))?;
    Ok(ok())
}

fn ok() -> Response {
    let body = to_text(&HealthOut { status: "ok" });
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], body).into_response()
}
