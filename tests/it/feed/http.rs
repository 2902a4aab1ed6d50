//! Streams, waits and signals as clients see them.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use clap::Parser;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tasklane::config::{Cli, Settings};
use tasklane::http::state::Draining;
use tasklane::server;
use tasklane::service::Lists;
use tower::ServiceExt;

use super::process;
use crate::support::database::TestDatabase;

struct Client {
    router: Router,
    lists: Lists,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

/// One server-sent event; a comment has nothing but its text.
#[derive(Debug, Default, PartialEq)]
struct Event {
    name: String,
    id: String,
    data: Value,
    comment: String,
}

struct Stream {
    body: Body,
    text: String,
}

impl Client {
    async fn new(database: &TestDatabase) -> Self {
        let settings: Settings = Cli::parse_from(["tasklane"]).settings;
        let lists = process(database).await;
        Self { router: server::app(&settings, lists.clone(), Draining::default()), lists }
    }

    async fn send(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.expect("the router answers")
    }

    async fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let response = self.send(request.body(body).unwrap()).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.call("GET", path, headers, None).await
    }

    /// Writes a list and returns its revision.
    async fn write(&self, thread: &str, tasks: &Value) -> i64 {
        let path = format!("/threads/{thread}/tasks");
        let answer = self.call("PUT", &path, &[], Some(json!({ "tasks": tasks }))).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        answer.body["revision"].as_i64().unwrap()
    }

    async fn stream(&self, path: &str, headers: &[(&str, &str)]) -> (HeaderMap, Stream) {
        let mut request = Request::builder().uri(path).header("accept", "text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let (parts, body) = response.into_parts();
        (parts.headers, Stream { body, text: String::new() })
    }
}

impl Stream {
    /// Returns the next event, or `None` once the stream has ended.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(Event::read(&block));
            }
            let frame = self.body.frame().await?.expect("the stream goes on");
            self.text.push_str(std::str::from_utf8(&frame.into_data().expect("data")).expect("UTF-8"));
        }
    }
}

impl Event {
    fn read(block: &str) -> Self {
        let mut event = Self::default();
        for line in block.lines() {
            match line.split_once(": ").or(line.split_once(':')).unwrap_or((line, "")) {
                ("event", name) => name.clone_into(&mut event.name),
                ("id", id) => id.clone_into(&mut event.id),
                ("data", data) => event.data = serde_json::from_str(data).expect("JSON"),
                ("", comment) => comment.clone_into(&mut event.comment),
                ("retry", _) => {}
                (other, _) => panic!("a field {other}"),
            }
        }
        event
    }
}

fn task(id: &str, status: &str) -> Value {
    json!({"id": id, "content": format!("do {id}"), "status": status, "activeForm": format!("doing {id}")})
}

both_databases! {
    async fn the_recorded_signals_hold(database: TestDatabase) {
        let client = Client::new(&database).await;
        let cases = include_str!("../../conformance/signal.jsonl");
        for (at, line) in cases.lines().enumerate() {
            let case: Value = serde_json::from_str(line).unwrap();
            let thread = format!("signal-{at}");
            let after = match &case["base"] {
                Value::Null => String::new(),
                base => format!("after={}&", client.write(&thread, base).await),
            };
            client.write(&thread, &case["current"]).await;
            let path = format!("/threads/{thread}/signal?{after}deltas={}", case["deltas"]);
            let answer = client.get(&path, &[]).await;
            assert_eq!(answer.status, StatusCode::OK);
            for (field, value) in case["expect"].as_object().unwrap() {
                assert_eq!(answer.body[field], *value, "{} {field}", case["name"]);
            }
        }
        assert_eq!(cases.lines().count(), 65);
    }

    async fn a_signal_of_a_base_that_is_not_kept_is_a_snapshot(database: TestDatabase) {
        let client = Client::new(&database).await;
        client.write("t", &json!([task("a", "pending")])).await;
        for query in ["after=7", "", "after=0&deltas=10"] {
            assert_eq!(client.get(&format!("/threads/t/signal?{query}"), &[]).await.body["mode"], "snapshot", "{query}");
        }
        client.call("DELETE", "/threads/t", &[], None).await;
        client.write("t", &json!([task("b", "pending")])).await;
        assert_eq!(client.get("/threads/t/signal?after=1", &[]).await.body["mode"], "snapshot");
        let delta = client.get("/threads/t/signal?after=2&maxBytes=40", &[]).await.body;
        assert_eq!((delta["mode"].clone(), delta["revision"].clone()), (json!("delta"), json!(3)));
        assert!(delta["contents"].as_str().unwrap().len() <= 40);
        for query in ["after=-1", "after=x", "deltas=-1", "maxBytes=x", "other=1"] {
            assert_eq!(client.get(&format!("/threads/t/signal?{query}"), &[]).await.status, StatusCode::BAD_REQUEST);
        }
    }

    async fn a_stream_begins_with_the_list_and_goes_on_with_changes(database: TestDatabase) {
        let client = Client::new(&database).await;
        client.write("t", &json!([task("a", "pending"), task("b", "pending")])).await;
        let (headers, mut stream) = client.stream("/threads/t/events", &[]).await;
        assert_eq!(headers["content-type"], "text/event-stream");
        assert_eq!(headers["cache-control"], "no-cache");
        assert_eq!(headers["x-accel-buffering"], "no");
        let snapshot = stream.next().await.unwrap();
        assert_eq!((snapshot.name.as_str(), snapshot.id.as_str()), ("snapshot", "1"));
        assert_eq!(snapshot.data["threadId"], "t");
        assert_eq!(snapshot.data["tasks"], client.get("/threads/t/tasks", &[]).await.body["tasks"]);

        client.write("t", &json!([task("b", "completed"), task("c", "pending")])).await;
        let change = stream.next().await.unwrap();
        assert_eq!((change.name.as_str(), change.id.as_str()), ("change", "2"));
        let data = change.data;
        assert_eq!(data["operation"], "task_write");
        assert_eq!((data["revision"].clone(), data["actor"].clone()), (json!(2), json!("anonymous")));
        assert!(data["at"].is_string() && data["summary"].is_string());
        let ops: Vec<_> = data["ops"].as_array().unwrap().iter().map(|op| op["op"].as_str().unwrap()).collect();
        assert_eq!(ops, ["update", "add", "remove"]);
        let tasks = client.get("/threads/t/tasks", &[]).await.body["tasks"].clone();
        assert_eq!((&data["ops"][0]["task"], &data["ops"][1]["task"]), (&tasks[0], &tasks[1]));
        assert_eq!(data["ops"][2], json!({"op": "remove", "id": "a"}));

        client.write("t", &json!([task("c", "pending"), task("b", "completed")])).await;
        let change = stream.next().await.unwrap();
        assert_eq!(change.data["ops"], json!([{"op": "order", "ids": ["c", "b"]}]));
    }

    async fn a_client_goes_on_from_its_last_event(database: TestDatabase) {
        let client = Client::new(&database).await;
        for status in ["pending", "in_progress", "completed"] {
            client.write("t", &json!([task("a", status)])).await;
        }
        let (_, mut stream) = client.stream("/threads/t/events?after=0", &[("last-event-id", "1")]).await;
        assert_eq!(stream.next().await.unwrap().id, "2");
        let (_, mut stream) = client.stream("/threads/t/events?after=2", &[]).await;
        assert_eq!(stream.next().await.unwrap().id, "3");
        let (_, mut stream) = client.stream("/threads/t/events?after=9", &[]).await;
        let reset = stream.next().await.unwrap();
        assert_eq!((reset.name.as_str(), reset.id.as_str()), ("reset", "3"));
        for (path, headers) in [
            ("/threads/t/events?after=x", &[][..]),
            ("/threads/t/events?after=-1", &[]),
            ("/threads/t/events?since=1", &[]),
            ("/threads/t/events", &[("last-event-id", "x")]),
            ("/events?after=7", &[]),
        ] {
            let answer = client.get(path, headers).await;
            assert_eq!((answer.status, answer.body["isError"].clone()), (StatusCode::BAD_REQUEST, json!(true)));
        }
    }

    async fn all_threads_of_a_resource_are_one_stream(database: TestDatabase) {
        let client = Client::new(&database).await;
        client.write("a", &json!([task("1", "pending")])).await;
        let (_, mut stream) = client.stream("/events", &[]).await;
        let snapshot = stream.next().await.unwrap();
        assert_eq!(snapshot.name, "snapshot");
        assert_eq!(snapshot.data["threads"][0]["threadId"], "a");
        assert_eq!(snapshot.data["hasMore"], false);
        client.write("b", &json!([task("1", "pending")])).await;
        let change = stream.next().await.unwrap();
        assert_eq!((change.name.as_str(), change.data["threadId"].clone()), ("change", json!("b")));
        client.call("DELETE", "/threads/b", &[], None).await;
        let reset = stream.next().await.unwrap();
        assert_eq!((reset.name.as_str(), reset.data["tasks"].clone()), ("reset", json!([])));
        drop(stream);

        client.write("a", &json!([task("1", "completed")])).await;
        let (_, mut stream) = client.stream("/events", &[("last-event-id", &snapshot.id)]).await;
        let mut threads = Vec::new();
        while threads.last() != Some(&("a".to_owned(), 2)) {
            let event = stream.next().await.unwrap();
            threads.push((event.data["threadId"].as_str().unwrap().to_owned(), event.data["revision"].as_i64().unwrap()));
        }
        assert!(threads.contains(&("b".to_owned(), 2)), "{threads:?}");
    }

    async fn streams_end_with_a_hint_when_the_service_stops(database: TestDatabase) {
        let client = Client::new(&database).await;
        let (_, mut one) = client.stream("/threads/t/events", &[]).await;
        let (_, mut all) = client.stream("/events", &[]).await;
        assert_eq!(one.next().await.unwrap().name, "snapshot");
        assert_eq!(all.next().await.unwrap().name, "snapshot");
        client.lists.stop_following();
        for stream in [&mut one, &mut all] {
            let hint = stream.next().await.unwrap();
            assert!(hint.comment.contains("go on from the last id") && hint.name.is_empty(), "{hint:?}");
            assert_eq!(stream.next().await, None);
        }
    }

    async fn a_read_waits_for_something_new(database: TestDatabase) {
        let client = Client::new(&database).await;
        client.write("t", &json!([task("a", "pending")])).await;
        let etag = client.get("/threads/t/tasks", &[]).await.headers["etag"].to_str().unwrap().to_owned();
        let same = client.get("/threads/t/tasks", &[("if-none-match", &etag), ("prefer", "wait=0")]).await;
        assert_eq!((same.status, &same.headers["preference-applied"]), (StatusCode::NOT_MODIFIED, &"wait=0".parse().unwrap()));
        assert_eq!(same.headers["etag"], etag.as_str());
        let now = client.get("/threads/t/tasks", &[("if-none-match", "\"0\""), ("prefer", "wait=20")]).await;
        assert_eq!((now.status, now.headers.get("preference-applied")), (StatusCode::OK, None));

        let headers = [("if-none-match", etag.as_str()), ("prefer", "wait=25")];
        let (completed, pending) = (json!([task("a", "completed")]), json!([task("a", "pending")]));
        let waiting = client.get("/threads/t/tasks", &headers);
        let (answer, _) = tokio::join!(waiting, client.write("t", &completed));
        assert_eq!((answer.status, answer.body["revision"].clone()), (StatusCode::OK, json!(2)));

        let tool = client.call("POST", "/threads/t/tools/task_wait", &[], Some(json!({"after": 2, "timeout_seconds": 25})));
        let (answer, _) = tokio::join!(tool, client.write("t", &pending));
        assert_eq!((answer.body["hasChanged"].clone(), answer.body["revision"].clone()), (json!(true), json!(3)));
    }
}
