//! Being told that a list has changed.

use axum::body::{Body, BodyDataStream};
use axum::http::StatusCode;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tasklane::http::state::Draining;
use tasklane::server;

use crate::support::app::settings;
use crate::support::mcp::{Mcp, lists};

const WRITE: &str = r#"{"tasks":[{"content":"a","status":"pending","activeForm":"a"}]}"#;

/// The messages of a stream.
struct Messages(BodyDataStream);

impl Messages {
    async fn next(&mut self) -> Option<Value> {
        loop {
            let event = self.0.next().await?.expect("the stream goes on");
            let text = std::str::from_utf8(&event).expect("a text");
            if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data:")) {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}

async fn listen(client: &Mcp, uris: &[&str]) -> Messages {
    let asked = json!({"notifications": {"resourceSubscriptions": uris, "toolsListChanged": true}});
    let response = client.modern_response("subscriptions/listen", asked).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Messages(Body::into_data_stream(response.into_body()))
}

both_databases! {
    async fn a_listener_is_told_of_each_change_of_the_list(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let mut messages = listen(&client, &["tasklane://threads/t/tasks", "file:///x"]).await;
        let acknowledged = messages.next().await.unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        let accepted = json!({"resourceSubscriptions": ["tasklane://threads/t/tasks"]});
        assert_eq!(acknowledged["params"]["notifications"], accepted);
        let updated = "notifications/resources/updated";
        // The first word says that the list may have changed before anybody looked.
        assert_eq!(messages.next().await.unwrap()["method"], updated);
        client.at("/threads/u/mcp").call("task_write", WRITE).await;
        client.call("task_write", WRITE).await;
        let told = messages.next().await.unwrap();
        assert_eq!((&told["method"], &told["params"]["uri"]), (&json!(updated), &json!("tasklane://threads/t/tasks")));
        client.call("task_complete", r#"{"id":"task_a"}"#).await;
        assert_eq!(messages.next().await.unwrap()["method"], updated);
    }

    async fn a_listener_is_told_when_the_service_stops(database: TestDatabase) {
        let lists = lists(database.open().await);
        let client = Mcp::of(server::app(&settings(&[]), lists.clone(), Draining::default()));
        let mut messages = listen(&client, &["tasklane://threads/t/tasks"]).await;
        assert!(messages.next().await.is_some() && messages.next().await.is_some());
        lists.stop_following();
        let last = messages.next().await.unwrap();
        assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!("a"), &json!("complete")), "{last}");
        assert!(messages.next().await.is_none());
    }

    async fn a_bound_url_tells_of_no_other_list(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let mut messages = listen(&client, &["tasklane://threads/u/tasks"]).await;
        messages.next().await.unwrap();
        let refused = messages.next().await.unwrap();
        assert_eq!(refused["error"]["data"]["uri"], "tasklane://threads/u/tasks", "{refused}");
        let mut messages = listen(&client.at("/mcp"), &["tasklane://threads/u/tasks"]).await;
        messages.next().await.unwrap();
        assert_eq!(messages.next().await.unwrap()["method"], "notifications/resources/updated");
    }

    async fn older_clients_are_not_offered_what_needs_a_session(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let initialized = client.legacy("initialize", params).await;
        assert_eq!(initialized["result"]["capabilities"]["resources"], json!({}));
        let discovered = client.modern("server/discover", json!({})).await;
        assert_eq!(discovered["result"]["capabilities"]["resources"], json!({"subscribe": true}));
    }
}
