//! A service under test and a client of it: the real router in this process, or the real program in another one.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use clap::Parser;
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tasklane::clock::{Clock, SystemClock};
use tasklane::config::{Cli, Settings};
use tasklane::http::state::Draining;
use tasklane::server;
use tasklane::service::Lists;
use tower::ServiceExt;

use super::database::TestDatabase;

/// A client of one service, with the headers that it sends each time.
#[derive(Debug, Clone)]
pub(crate) struct App {
    way: Way,
    headers: HeaderMap,
}

#[derive(Debug, Clone)]
enum Way {
    Router(Router),
    Server(SocketAddr, Client<HttpConnector, Body>),
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// The connection broke before the answer was there.
#[derive(Debug)]
pub(crate) struct HungUp;

/// The settings that flags make, as the program reads them.
pub(crate) fn settings(flags: &[&str]) -> Settings {
    Cli::parse_from(std::iter::once(&"tasklane").chain(flags)).settings
}

/// The lists in a database, with a store of their own, as each process has one.
pub(crate) async fn lists(database: &TestDatabase, settings: &Settings, clock: Arc<dyn Clock>) -> Lists {
    Lists::new(database.open().await, clock, settings.service())
}

impl App {
    /// Puts a service together in this process, with a store of its own.
    pub(crate) async fn on(database: &TestDatabase) -> Self {
        Self::with(database, &[]).await
    }

    /// The same, with flags as the program takes them.
    pub(crate) async fn with(database: &TestDatabase, flags: &[&str]) -> Self {
        let settings = settings(flags);
        let lists = lists(database, &settings, Arc::new(SystemClock)).await;
        Self::of(server::app(&settings, lists, Draining::default()))
    }

    /// Reaches a router.
    pub(crate) fn of(router: Router) -> Self {
        Self { way: Way::Router(router), headers: HeaderMap::new() }
    }

    /// Reaches a server over the network.
    pub(crate) fn at(address: SocketAddr) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { way: Way::Server(address, client), headers: HeaderMap::new() }
    }

    /// Sends a header with every request from now on.
    pub(crate) fn header(&self, name: &'static str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.insert(name, value.parse().expect("a header's value"));
        other
    }

    /// Sends a request; a body goes as JSON, byte for byte.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<&str>) -> Answer {
        self.try_send(method, path, body).await.expect("an answer")
    }

    /// The same, where the other side may hang up.
    pub(crate) async fn try_send(&self, method: &str, path: &str, body: Option<&str>) -> Result<Answer, HungUp> {
        let authority = match &self.way {
            Way::Router(_) => String::new(),
            Way::Server(address, _) => format!("http://{address}"),
        };
        let mut request = Request::builder().method(method).uri(format!("{authority}{path}"));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let mut request =
            request.body(body.map_or_else(Body::empty, |body| Body::from(body.to_owned()))).expect("a request");
        request.headers_mut().extend(self.headers.clone());
        let (parts, bytes) = match &self.way {
            Way::Router(router) => {
                let (parts, body) = router.clone().oneshot(request).await.expect("a router has no errors").into_parts();
                (parts, body.collect().await.map_err(|_| HungUp)?.to_bytes())
            }
            Way::Server(_, client) => {
                let (parts, body) = client.request(request).await.map_err(|_| HungUp)?.into_parts();
                (parts, body.collect().await.map_err(|_| HungUp)?.to_bytes())
            }
        };
        Ok(Answer { status: parts.status, headers: parts.headers, text: text(bytes) })
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, Some(&body.to_string())).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(&body.to_string())).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, Some(&body.to_string())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None).await
    }

    /// Calls a tool and returns its result, whether or not that is a refusal.
    pub(crate) async fn tool(&self, thread: &str, tool: &str, arguments: &Value) -> Value {
        self.tool_as_sent(thread, tool, &arguments.to_string()).await
    }

    /// Calls a tool with arguments as they are spelled.
    pub(crate) async fn tool_as_sent(&self, thread: &str, tool: &str, arguments: &str) -> Value {
        let path = format!("/threads/{}/tools/{tool}", segment(thread));
        self.send("POST", &path, Some(arguments)).await.ok()
    }

    /// Calls a tool that must do what it is told.
    pub(crate) async fn done(&self, thread: &str, tool: &str, arguments: &Value) -> Value {
        let result = self.tool(thread, tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result
    }

    /// Returns a list as it is.
    pub(crate) async fn list(&self, thread: &str) -> Value {
        self.get(&format!("/threads/{}/tasks", segment(thread))).await.ok()
    }

    /// Returns the ids of a list, in its order.
    pub(crate) async fn ids(&self, thread: &str) -> Vec<String> {
        texts(&self.list(thread).await["tasks"], "id")
    }
}

impl Answer {
    /// Returns the JSON of a 200.
    pub(crate) fn ok(&self) -> Value {
        self.with_status(StatusCode::OK)
    }

    /// Returns the JSON of an answer that must have this status.
    pub(crate) fn with_status(&self, status: StatusCode) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a text"))
    }
}

/// Writes a part of a path.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Returns one member of each object of an array, as texts.
pub(crate) fn texts(objects: &Value, key: &str) -> Vec<String> {
    let text = |object: &Value| object[key].as_str().expect("a text").to_owned();
    objects.as_array().expect("an array").iter().map(text).collect()
}

fn text(bytes: Bytes) -> String {
    String::from_utf8(bytes.into()).expect("UTF-8")
}
