//! How clients of both eras get to know the server. None of it needs the store, so that it is never there.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::mcp::{LEGACY, MODERN, Mcp, gone};

async fn client() -> Mcp {
    Mcp::new(gone().await)
}

fn initialize(version: &str) -> String {
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[tokio::test]
async fn a_client_of_the_older_revisions_is_welcome() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let answer = client().await.post(initialize(version)).await;
        assert_eq!(answer.status, StatusCode::OK);
        let result = &answer.message()["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "tasklane");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(result["capabilities"]["tools"].is_object());
        assert!(result["instructions"].as_str().unwrap().contains("this thread"));
    }
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(client().await.post(initialized).await.status, StatusCode::ACCEPTED);
    assert_eq!(client().await.legacy("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_client_of_the_newest_revision_discovers_the_server() {
    let answer = client().await.modern("server/discover", json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tasklane");
    assert!(result["instructions"].as_str().unwrap().contains("this thread"));
}

#[tokio::test]
async fn a_version_that_nobody_knows_is_refused_by_name() {
    let unknown = client().await.header("mcp-protocol-version", "2099-01-01").header("mcp-method", "tools/list");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
    let answer = unknown.post(body).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, -32022));
}

#[tokio::test]
async fn headers_that_contradict_the_message_are_refused() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "task_check", "_meta": meta},
    });
    let right = client().await.header("mcp-protocol-version", MODERN).header("mcp-method", "tools/call");
    let right = right.header("mcp-name", "task_check");
    assert_eq!(right.post(body.to_string()).await.status, StatusCode::OK);
    for wrong in [right.header("mcp-method", "tools/list"), right.header("mcp-name", "task_write")] {
        let answer = wrong.post(body.to_string()).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, -32020));
    }
}

#[tokio::test]
async fn nothing_but_post_is_offered() {
    for method in ["GET", "DELETE"] {
        assert_eq!(client().await.send(method, "").await.status, StatusCode::METHOD_NOT_ALLOWED);
    }
}
