//! What agents are told while the store is away: never an empty list as if it were the truth, never a bare error.

use serde_json::json;

use crate::support::mcp::{Mcp, gone};

#[tokio::test]
async fn a_call_is_refused_in_its_toolsets_form() {
    let client = Mcp::new(gone().await).at("/threads/t/mcp?toolset=all");
    for (tool, arguments, is_error) in [
        ("task_check", "{}", false),
        ("task_complete", r#"{"id":"a"}"#, false),
        ("task_complete", "{}", false),
        ("TaskList", "{}", true),
        ("TaskCreate", r#"{"subject":"s","description":""}"#, true),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], is_error, "{tool}");
        assert_eq!(result["structuredContent"]["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("Try again"), "{result}");
    }
}

#[tokio::test]
async fn a_resource_cannot_be_read() {
    let client = Mcp::new(gone().await);
    let answer = client.modern("resources/read", json!({"uri": "tasklane://threads/t/tasks"})).await;
    assert_eq!(answer["error"]["code"], -32603);
}
