//! The HTTP edge: translates requests into calls of the service and outcomes into answers. It decides nothing.
//!
//! One file a noun. Below the handlers lie what they are given ([`extract`], [`call`], [`headers`], [`query`], [`bodies`]), what they
//! answer with ([`answer`], [`wire`], [`problem`]) and what they share ([`state`]); none of these knows a handler.

pub mod answer;
pub mod bodies;
pub mod call;
mod change;
pub mod code;
pub mod cursor;
pub mod extract;
pub mod headers;
pub mod problem;
pub mod query;
pub mod request_id;
pub mod state;
pub mod wire;

mod coordination;
mod documents;
mod events;
mod health;
mod limits;
mod problems;
mod signal;
mod task;
mod tasks;
mod threads;
mod tools;

pub mod middleware;
pub mod openapi;
pub mod openapi_tools;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use state::App;

/// Returns what reaches the lists: refused while too much is going on.
pub fn list_routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::frame())
        .routes(routes!(tasks::task_write, tasks::task_check, tasks::task_create, tasks::task_clear))
        .routes(routes!(task::task_get, task::task_update, task::task_delete))
        .routes(routes!(task::task_complete))
        .routes(routes!(coordination::task_claim))
        .routes(routes!(coordination::task_claim_one))
        .routes(routes!(coordination::task_release))
        .routes(routes!(coordination::task_heartbeat))
        .routes(routes!(coordination::task_history))
        .routes(routes!(coordination::task_restore))
        .routes(routes!(threads::thread_list))
        .routes(routes!(threads::thread_get, threads::thread_delete))
        .routes(routes!(tools::tool_call))
        .routes(routes!(signal::task_signal))
}

/// Returns the streams, which last as long as their readers like.
pub fn stream_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events::thread_events)).routes(routes!(events::resource_events))
}

/// Returns what is always answered: health and documents.
pub fn document_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(tools::tool_list))
        .routes(routes!(limits::limits))
        .routes(routes!(problems::problem_get))
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .routes(routes!(documents::openapi_json))
        .routes(routes!(documents::openapi_yaml))
        .routes(routes!(documents::openapi_tools))
}
