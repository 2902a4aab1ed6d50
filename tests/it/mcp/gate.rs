//! What is refused before any tool is asked, and what is let through although it is not quite right.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::mcp::{Mcp, gone};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

async fn client() -> Mcp {
    Mcp::new(gone().await)
}

#[tokio::test]
async fn a_client_that_takes_json_is_served() {
    for accept in ["*/*", "application/json", "application/*;q=0.5, text/html", "text/event-stream, application/json"] {
        let answer = client().await.header("accept", accept).post(LIST).await;
        assert_eq!((answer.status, answer.content_type.as_str()), (StatusCode::OK, "application/json"), "{accept}");
    }
    assert_eq!(client().await.without("accept").post(LIST).await.status, StatusCode::OK);
    assert_eq!(client().await.header("accept", "text/html").post(LIST).await.status, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn only_json_is_read() {
    for media_type in ["application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(client().await.header("content-type", media_type).post(LIST).await.status, StatusCode::OK);
    }
    for other in [client().await.header("content-type", "text/plain"), client().await.without("content-type")] {
        assert_eq!(other.post(LIST).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
}

#[tokio::test]
async fn what_is_no_message_is_an_error_of_the_protocol() {
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        (r#"{"id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#, -32600),
    ] {
        let answer = client().await.post(body).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, code), "{body}: {answer:?}");
    }
}

#[tokio::test]
async fn params_that_are_malformed_are_told_apart_from_a_method_that_does_not_exist() {
    let malformed = client().await.legacy("tools/call", json!({"arguments": {}})).await;
    assert_eq!(malformed["error"]["code"], -32602);
    let unknown = client().await.legacy("tools/fly", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    let modern = client().await.modern_answer("prompts/list", json!({})).await;
    assert_eq!((modern.status, modern.error_code()), (StatusCode::NOT_FOUND, -32601));
}

#[tokio::test]
async fn only_known_hosts_and_origins_are_served() {
    let flags = [
        "--allowed-hosts",
        "localhost,tasks.example",
        "--allowed-origins",
        "http://localhost:*,https://app.example:443",
    ];
    let client = Mcp::with(gone().await, &flags);
    for (name, value, status) in [
        ("host", "localhost", StatusCode::OK),
        ("host", "tasks.example:443", StatusCode::OK),
        ("host", "evil.example", StatusCode::FORBIDDEN),
        ("origin", "http://localhost:3000", StatusCode::OK),
        ("origin", "https://app.example", StatusCode::OK),
        ("origin", "https://app.example:444", StatusCode::FORBIDDEN),
        ("origin", "https://evil.example", StatusCode::FORBIDDEN),
        ("origin", "null", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(client.header(name, value).post(LIST).await.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn what_listens_for_others_is_reached_by_any_name_unless_names_are_given() {
    let public = ["--listen", "0.0.0.0:80", "--insecure-no-auth"];
    let any = Mcp::with(gone().await, &public).header("host", "any.example");
    assert_eq!(any.post(LIST).await.status, StatusCode::OK);
    assert_eq!(any.header("origin", "http://any.example").post(LIST).await.status, StatusCode::FORBIDDEN);
    assert_eq!(any.header("origin", "http://localhost:3000").post(LIST).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_thread_id_obeys_the_same_rules_everywhere() {
    let long = "x".repeat(257);
    for id in ["%2E%2E", "a%00b", "a%0Ab", &long, "%ff", "%zz", "a%"] {
        for client in
            [client().await.at(&format!("/threads/{id}/mcp")), client().await.at("/mcp").header("x-thread-id", id)]
        {
            let answer = client.post(LIST).await;
            assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, -32600), "{id}");
        }
    }
    assert_eq!(client().await.at("/threads/a%2Fb%20%E4%BF%AE/mcp").post(LIST).await.status, StatusCode::OK);
}

#[tokio::test]
async fn who_calls_is_read_as_by_every_edge() {
    let long = "x".repeat(256);
    for (name, value) in [("x-actor", "a%0Ab"), ("x-resource-id", ""), ("idempotency-key", &*long)] {
        assert_eq!(client().await.header(name, value).post(LIST).await.status, StatusCode::BAD_REQUEST, "{name}");
    }
    let strict = Mcp::with(gone().await, &["--require-resource"]);
    assert_eq!(strict.post(LIST).await.status, StatusCode::OK);
    let result = strict.call("task_check", "{}").await;
    assert_eq!(result["structuredContent"]["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("X-Resource-Id"));
}

#[tokio::test]
async fn a_body_may_have_four_mebibytes_and_no_more() {
    const MOST: usize = 4 * 1024 * 1024;
    let padded = |bytes: usize| format!("{LIST}{}", " ".repeat(bytes - LIST.len()));
    assert_eq!(client().await.post(padded(MOST)).await.status, StatusCode::OK);
    let answer = client().await.post(padded(MOST + 1)).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::PAYLOAD_TOO_LARGE, -32600));
}
