//! A service as its clients see it: the real router on a real database, with a clock and change ids that tests know.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use chrono::{DateTime, TimeDelta};
use clap::Parser;
use http_body_util::BodyExt;
use serde_json::Value;
use tasklane::clock::Clock;
use tasklane::config::{Cli, Settings};
use tasklane::domain::{Moment, Version};
use tasklane::http::state::Draining;
use tasklane::server;
use tasklane::service::Lists;
use tower::ServiceExt;

use super::database::TestDatabase;

/// A clock that never moves, and change ids that count.
#[derive(Debug, Default)]
struct TestClock {
    drawn: AtomicI64,
}

impl Clock for TestClock {
    fn now(&self) -> Moment {
        DateTime::from_timestamp(1_796_000_000, 0).expect("a moment") + TimeDelta::microseconds(123_456)
    }

    fn draw_version(&self) -> Version {
        Version::new(self.drawn.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn draw_secret(&self) -> u64 {
        7
    }
}

/// One process of the service.
pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) draining: Draining,
}

/// Returns the settings that these flags give, whatever the environment says.
pub(crate) fn settings(flags: &[&str]) -> Settings {
    Cli::try_parse_from(std::iter::once(&"tasklane").chain(flags)).expect("good flags").settings
}

impl Service {
    pub(crate) async fn on(database: &TestDatabase) -> Self {
        Self::with(database, &[]).await
    }

    /// Starts a service with these flags.
    pub(crate) async fn with(database: &TestDatabase, flags: &[&str]) -> Self {
        let settings = settings(flags);
        let lists = Lists::new(database.open().await, Arc::new(TestClock::default()), settings.service());
        let draining = Draining::default();
        Self { router: server::app(&settings, lists, draining.clone()), draining }
    }

    pub(crate) fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    pub(crate) fn put(&self, path: &str) -> Call {
        self.call(Method::PUT, path)
    }

    pub(crate) fn post(&self, path: &str) -> Call {
        self.call(Method::POST, path)
    }

    pub(crate) fn patch(&self, path: &str) -> Call {
        self.call(Method::PATCH, path)
    }

    pub(crate) fn delete(&self, path: &str) -> Call {
        self.call(Method::DELETE, path)
    }

    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        let request = Request::builder().method(method).uri(path).header("x-request-id", "test");
        Call { router: self.router.clone(), request, body: Body::empty() }
    }
}

/// A call in the making.
pub(crate) struct Call {
    router: Router,
    request: axum::http::request::Builder,
    body: Body,
}

impl Call {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Sends a JSON text as it is.
    pub(crate) fn json(mut self, text: impl Into<String>) -> Self {
        self.request = self.request.header("content-type", "application/json");
        self.body = Body::from(text.into());
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) async fn send(self) -> Answer {
        let request = self.request.body(self.body).expect("a good request");
        let response = self.router.oneshot(request).await.expect("the router always answers");
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.into_body().collect().await.expect("a whole body").to_bytes();
        Answer { status, headers, text: String::from_utf8(bytes.to_vec()).expect("text") }
    }
}

/// What the service answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a printable header"))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Asserts the status, and hands the answer on.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{self}");
        self
    }

    /// Asserts that it is a problem with this code, in the one form that problems have.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), "application/problem+json", "{answer}");
        assert_eq!(answer.header("cache-control"), "no-store");
        let problem = answer.json();
        assert_eq!(problem["code"], code, "{answer}");
        assert_eq!(problem["type"], format!("/problems/{code}"));
        assert_eq!(problem["status"], status);
        assert_eq!(problem["instance"], answer.header("x-request-id"));
        assert_eq!(problem["isError"], true);
        assert!(!problem["content"].as_str().expect("a sentence").is_empty());
        assert!(!problem["title"].as_str().expect("a title").is_empty());
        assert_eq!(problem["detail"], problem["content"]);
        problem
    }
}

impl fmt::Display for Answer {
    /// Writes what a client sees of it: the status, the headers that say something about the state, the body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        for name in ["etag", "location", "preference-applied", "idempotency-replayed", "allow", "retry-after"] {
            if let Some(value) = self.headers.get(name) {
                writeln!(f, "{name}: {}", value.to_str().unwrap_or("?"))?;
            }
        }
        match serde_json::from_str::<Value>(&self.text) {
            Ok(body) => write!(f, "{body:#}"),
            Err(_) => f.write_str(&self.text),
        }
    }
}
