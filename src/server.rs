//! The server: all routes, what every request passes on its way to them, and the way from start to a clean end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, COOKIE};
use axum::http::{HeaderName, HeaderValue, Request};
use axum::middleware::from_fn_with_state;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::config::Settings;
use crate::http::code::Code;
use crate::http::problem::Problem;
use crate::http::state::{App, Documents, Draining, Rules, Shared};
use crate::http::{self, middleware, openapi, openapi_tools, request_id};
use crate::mcp;
use crate::service::Lists;
use crate::telemetry;

/// Headers that no log may ever show.
const SECRETS: [HeaderName; 4] =
    [AUTHORIZATION, COOKIE, HeaderName::from_static("idempotency-key"), HeaderName::from_static("x-lease-token")];
/// What the service gets to say by itself that it ran out of time, before the request is given up from outside.
const GRACE: Duration = Duration::from_millis(500);

/// Returns the OpenAPI document of a service that is reached under this URL.
#[must_use]
pub fn document(public_url: &str) -> OpenApi {
    let (_, document) =
        http::list_routes().merge(http::stream_routes()).merge(http::document_routes()).split_for_parts();
    openapi::completed(document, public_url)
}

/// Puts the service together.
pub fn app(settings: &Settings, lists: Lists, draining: Draining) -> Router {
    let document = document(&settings.public_url());
    let documents = Documents {
        openapi_json: openapi::json(&document).into(),
        openapi_yaml: openapi::yaml(&document).into(),
        openapi_tools_json: openapi_tools::json(&document).into(),
    };
    let rules = Rules { require_resource: settings.require_resource, body_bytes_max: settings.body_bytes_max };
    routes(settings, &lists).with_state(App::new(Shared { lists, draining, rules, documents }))
}

fn routes(settings: &Settings, keeper: &Lists) -> Router<App> {
    let permits = Arc::new(Semaphore::new(settings.requests_max as usize));
    let timeout = settings.request_timeout() + GRACE;
    let (lists, _) = http::list_routes().split_for_parts();
    let (streams, _) = http::stream_routes().split_for_parts();
    let (documents, _) = http::document_routes().split_for_parts();
    let mcp = mcp::routes(keeper, settings.into())
        .route_layer(from_fn_with_state(Arc::clone(&permits), middleware::shed_load));

    // Only what reaches the lists: health and documents are answered even then.
    let lists = lists.route_layer(from_fn_with_state(permits, middleware::admit));
    lists
        .merge(streams)
        .merge(documents)
        .merge(mcp)
        .merge(SwaggerUi::new("/docs").config(Config::from("/openapi.json")))
        .fallback(async || Problem::new(Code::NotFound))
        // From the outside to the inside.
        .layer(
            ServiceBuilder::new()
                // First, so that all else can name the request.
                .map_request(request_id::identified)
                // Before anything that logs.
                .layer(SetSensitiveRequestHeadersLayer::new(SECRETS))
                .layer(
                    TraceLayer::new_for_http()
                        .make_span_with(|request: &Request<_>| telemetry::request_span(request))
                        .on_request(())
                        .on_response(telemetry::log_response)
                        .on_failure(()),
                )
                .layer(SetResponseHeaderLayer::if_not_present(CACHE_CONTROL, HeaderValue::from_static("no-store")))
                // Problems of all that follows are written down here.
                .layer(from_fn_with_state(timeout, middleware::see_through))
                .layer(CatchPanicLayer::custom(middleware::caught))
                .layer(DefaultBodyLimit::max(settings.body_bytes_max)),
        )
}

/// The names of this machine, as a `Host` header says them.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// The origins of this machine's web pages.
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

impl From<&Settings> for mcp::Settings {
    fn from(settings: &Settings) -> Self {
        let or_else = |given: &[String], names: &[&str]| {
            if given.is_empty() { names.iter().map(|name| (*name).to_owned()).collect() } else { given.to_vec() }
        };
        // What listens for others is reached by names that nobody can know here.
        let hosts: &[&str] = if settings.listen.ip().to_canonical().is_loopback() { &LOOPBACK_HOSTS } else { &[] };
        Self {
            require_resource: settings.require_resource,
            body_bytes_max: settings.body_bytes_max,
            allowed_hosts: or_else(&settings.allowed_hosts, hosts),
            allowed_origins: or_else(&settings.allowed_origins, &LOOPBACK_ORIGINS),
        }
    }
}

/// How long the end may take.
#[derive(Debug, Clone, Copy)]
pub struct Shutdown {
    /// How long to go on accepting connections.
    pub delay: Duration,
    /// How long open requests may go on after that.
    pub timeout: Duration,
}

impl From<&Settings> for Shutdown {
    fn from(settings: &Settings) -> Self {
        Self {
            delay: Duration::from_secs(settings.shutdown_delay_seconds),
            timeout: Duration::from_secs(settings.shutdown_timeout_seconds),
        }
    }
}

/// Serves until `stop` comes, and then until the open requests have ended. Whoever follows the lists or waits for a change is
/// sent away when no more connections are accepted.
///
/// # Errors
/// The listener fails.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    lists: Lists,
    draining: Draining,
    shutdown: Shutdown,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (closing, mut closed) = watch::channel(false);
    let begin = async move {
        stop.await;
        tracing::info!("stopping: not ready any more");
        draining.begin();
        tokio::time::sleep(shutdown.delay).await;
        lists.stop_following();
        closing.send_replace(true);
    };
    // An answer is written at once and whole: waiting for more to send with it would only delay it.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection cannot be told not to wait");
        }
    });
    let server = axum::serve(listener, router).with_graceful_shutdown(begin);
    let too_late = async move {
        // An error means that the server is gone, and with it this wait.
        if closed.wait_for(|closing| *closing).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(shutdown.timeout).await;
    };
    tokio::select! {
        ended = async { server.await } => ended,
        () = too_late => {
            tracing::warn!("stopped with requests still open");
            Ok(())
        }
    }
}

/// Waits until the process is asked to end: SIGTERM or SIGINT.
///
/// # Errors
/// The signals cannot be listened to.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
