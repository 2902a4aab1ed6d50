//! What every request passes on its way to a handler, beyond what kept libraries do.

use std::any::Any;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::code::Code;
use super::problem::{self, Cause, Problem};
use super::request_id::{RequestId, X_REQUEST_ID};
use crate::edge::Patience;

/// Sees a request through to its answer: gives it up when it takes too long, writes a problem down, and names the request.
///
/// One function for all that has to be around every handler: each further one would copy the whole service below it.
pub async fn see_through(State(timeout): State<Duration>, request: Request, next: Next) -> Response {
    let id = request.extensions().get::<RequestId>().cloned().unwrap_or_default();
    let mut response = problem::rendered(in_time(timeout, request, next).await, &id);
    if let Some(id) = id.header_value() {
        response.headers_mut().insert(X_REQUEST_ID, id);
    }
    response
}

/// Gives up on a request that takes too long, the time not counted for which it was let wait. A commit that is under way goes
/// on: it runs in a task of its own.
async fn in_time(timeout: Duration, mut request: Request, next: Next) -> Response {
    let (begin, patience) = (Instant::now(), Patience::default());
    request.extensions_mut().insert(patience.clone());
    let mut answer = pin!(next.run(request));
    loop {
        let granted = patience.granted();
        match tokio::time::timeout_at(begin + timeout + granted, answer.as_mut()).await {
            Ok(response) => return response,
            // It has begun to wait meanwhile.
            Err(_) if patience.granted() > granted => {}
            Err(_) => return Problem::new(Code::Timeout).into_response(),
        }
    }
}

/// Refuses a request whose `Accept` leaves no JSON to answer with, and else lets it in as [`shed_load`] does.
pub async fn admit(permits: State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    if accepts_json(request.headers()) {
        shed_load(permits, request, next).await
    } else {
        Problem::new(Code::NotAcceptable).into_response()
    }
}

/// Refuses a request at once while as many as may be are worked on, rather than letting it wait for its timeout.
pub async fn shed_load(State(permits): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let Ok(permit) = permits.try_acquire_owned() else { return Problem::new(Code::Overloaded).into_response() };
    let patience = request.extensions().get::<Patience>().cloned().unwrap_or_default();
    patience.hold(Some(permit));
    let response = next.run(request).await;
    patience.hold(None);
    response
}

/// Makes a problem of a panic; its text is for the log.
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "the layer hands the panic over")]
pub fn caught(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Problem::internal(Cause::new(&format!("panicked: {}", text.unwrap_or("no text")))).into_response()
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let ranges: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .collect();
    ranges.is_empty() || ranges.iter().any(|range| admits_json(range))
}

fn admits_json(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_wanted = !parts.any(|parameter| {
        parameter.split_once('=').is_some_and(|(name, q)| {
            name.trim().eq_ignore_ascii_case("q") && q.trim().parse::<f32>().is_ok_and(|q| q <= 0.0)
        })
    });
    is_wanted && matches!(essence.as_str(), "*/*" | "application/*" | "application/json" | "application/problem+json")
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    async fn get_status(router: Router, path: &str) -> StatusCode {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap().status()
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_let_wait_has_more_time_and_takes_nobodys_place() {
        let (permits, waiting) = (Arc::new(Semaphore::new(1)), Arc::new(tokio::sync::Notify::new()));
        let let_wait = {
            let (permits, waiting) = (permits.clone(), waiting.clone());
            async move |request: Request| {
                request.extensions().get::<Patience>().unwrap().grant(Duration::from_mins(10));
                waiting.notify_one();
                // Nobody else could take it if it were still held.
                drop(permits.acquire().await.unwrap());
                tokio::time::sleep(Duration::from_mins(1)).await;
            }
        };
        let router = Router::new()
            .route("/wait", get(let_wait))
            .route("/hang", get(async || pending::<()>().await))
            .layer(from_fn_with_state(permits, shed_load))
            .layer(from_fn_with_state(Duration::from_secs(10), see_through));
        let (waited, hung) = tokio::join!(get_status(router.clone(), "/wait"), async {
            waiting.notified().await;
            get_status(router.clone(), "/hang").await
        });
        assert_eq!(waited, StatusCode::OK);
        assert_eq!(hung, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn json_is_found_among_what_is_accepted() {
        for (accept, is_fine) in [
            ("", true),
            ("*/*", true),
            ("text/html, application/xhtml+xml, */*;q=0.8", true),
            ("APPLICATION/JSON; charset=utf-8", true),
            ("application/*;q=0.1", true),
            ("application/problem+json", true),
            ("text/html", false),
            ("application/xml, text/*", false),
            ("application/json;q=0", false),
            ("*/*; q=0.000", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
            assert_eq!(accepts_json(&headers), is_fine, "{accept}");
        }
        assert!(accepts_json(&HeaderMap::new()));
    }
}
