//! A client of the Model Context Protocol that says exactly what it is told to, through the real router.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tasklane::clock::SystemClock;
use tasklane::http::state::Draining;
use tasklane::server;
use tasklane::service::{self, Lists};
use tasklane::store::{self, ListStore};
use tower::ServiceExt;

use super::app::settings;
use super::database::options;

/// The revision of the protocol without any handshake.
pub(crate) const MODERN: &str = "2026-07-28";
/// The last revision that begins with `initialize`.
pub(crate) const LEGACY: &str = "2025-11-25";

/// A client of a service.
#[derive(Clone)]
pub(crate) struct Mcp {
    router: Router,
    path: String,
    headers: BTreeMap<String, String>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) text: String,
}

/// A store that never answers any more.
pub(crate) async fn gone() -> Arc<dyn ListStore> {
    let store = store::open("sqlite::memory:", &options()).await.expect("a store");
    store.close().await;
    store
}

pub(crate) fn lists(store: Arc<dyn ListStore>) -> Lists {
    let settings = service::Settings { deadline: Duration::from_secs(30), ..service::Settings::default() };
    Lists::new(store, Arc::new(SystemClock), settings)
}

impl Mcp {
    pub(crate) fn new(store: Arc<dyn ListStore>) -> Self {
        Self::with(store, &[])
    }

    /// Reaches a service that was started with these flags.
    pub(crate) fn with(store: Arc<dyn ListStore>, flags: &[&str]) -> Self {
        Self::of(server::app(&settings(flags), lists(store), Draining::default()))
    }

    /// Reaches a router.
    pub(crate) fn of(router: Router) -> Self {
        let headers = [
            ("host", "localhost:8080"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { router, path: "/threads/t/mcp".to_owned(), headers }
    }

    /// Points at another path.
    pub(crate) fn at(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Sends a header with every request, or another value of it.
    pub(crate) fn header(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.insert(name.to_owned(), value.to_owned());
        other
    }

    /// Leaves a header out.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut other = self.clone();
        other.headers.remove(name);
        other
    }

    /// Posts a body as it is.
    pub(crate) async fn post(&self, body: impl Into<Body>) -> Answer {
        self.send("POST", body).await
    }

    pub(crate) async fn send(&self, method: &str, body: impl Into<Body>) -> Answer {
        let (parts, body) = self.respond(method, body).await.into_parts();
        let content_type = parts.headers.get("content-type").map_or("", |value| value.to_str().expect("a text"));
        let content_type = content_type.to_owned();
        let bytes = body.collect().await.expect("a body").to_bytes();
        Answer { status: parts.status, content_type, text: String::from_utf8(bytes.to_vec()).expect("a text") }
    }

    async fn respond(&self, method: &str, body: impl Into<Body>) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(body.into()).expect("a request");
        self.router.clone().oneshot(request).await.expect("an answer")
    }

    /// Asks as clients of the revisions before 2026-07-28 do, without a handshake.
    pub(crate) async fn legacy(&self, method: &str, params: Value) -> Value {
        let client = self.header("mcp-protocol-version", LEGACY);
        client.post(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()).await.message()
    }

    /// Asks as clients of 2026-07-28 do.
    pub(crate) async fn modern(&self, method: &str, params: Value) -> Value {
        self.modern_answer(method, params).await.message()
    }

    pub(crate) async fn modern_answer(&self, method: &str, params: Value) -> Answer {
        let (client, body) = self.as_modern(method, params);
        client.post(body).await
    }

    /// Asks as clients of 2026-07-28 do, and returns before the answer has ended.
    pub(crate) async fn modern_response(&self, method: &str, params: Value) -> Response<Body> {
        let (client, body) = self.as_modern(method, params);
        client.respond("POST", body).await
    }

    fn as_modern(&self, method: &str, mut params: Value) -> (Self, String) {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let mut client = self.header("mcp-protocol-version", MODERN).header("mcp-method", method);
        for name in ["name", "uri"] {
            if let Some(name) = params[name].as_str() {
                client = client.header("mcp-name", name);
            }
        }
        (client, json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params}).to_string())
    }

    /// Calls a tool with arguments as they are spelled; returns the result.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Value {
        serde_json::from_str::<Value>(&self.call_text(tool, arguments).await).expect("JSON")["result"].clone()
    }

    /// Calls a tool and returns the whole answer as it is spelled.
    pub(crate) async fn call_text(&self, tool: &str, arguments: &str) -> String {
        let tool = json!(tool);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{tool},"arguments":{arguments}}}}}"#
        );
        let answer = self.post(body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.text
    }
}

impl Answer {
    /// Returns the message, which must be JSON.
    pub(crate) fn message(&self) -> Value {
        assert_eq!(self.content_type, "application/json", "{self:?}");
        serde_json::from_str(&self.text).expect("JSON")
    }

    /// Returns the code of the protocol's error.
    pub(crate) fn error_code(&self) -> i64 {
        self.message()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}
