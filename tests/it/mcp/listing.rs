//! What clients find: tools, and who may see which. None of it needs the store, so that it is never there.

use std::path::PathBuf;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::mcp::{Mcp, gone};

async fn client(path: &str) -> Mcp {
    Mcp::new(gone().await).at(path)
}

async fn names(client: &Mcp) -> Vec<String> {
    let listed = client.legacy("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn each_url_lists_the_tools_that_were_reviewed() {
    for (path, file) in [
        ("/threads/t/mcp", "mastra"),
        ("/threads/t/mcp?toolset=agentscope", "agentscope"),
        ("/threads/t/mcp?toolset=coordination", "coordination"),
        ("/mcp?toolset=all", "all-of-any-thread"),
    ] {
        let mut listed = client(path).await.modern("tools/list", json!({})).await;
        assert_eq!(listed["result"]["cacheScope"], "public");
        let now = format!("{:#}\n", listed["result"]["tools"].take());
        let file = format!("tests/golden/mcp/{file}.json");
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&file);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            reviewed == now,
            "{file} is not what is listed now. If the change is meant, run\n  UPDATE_GOLDEN=1 cargo test mcp::listing\n\
             and review the difference with git diff."
        );
    }
}

#[tokio::test]
async fn tools_come_in_the_order_of_their_names_and_the_same_for_both_eras() {
    let client = client("/threads/t/mcp?toolset=all").await;
    let names = names(&client).await;
    assert!(names.is_sorted());
    assert!(names.contains(&"task_write".to_owned()) && names.contains(&"TaskCreate".to_owned()));
    let modern = client.modern("tools/list", json!({})).await;
    let legacy = client.legacy("tools/list", json!({})).await;
    assert_eq!(modern["result"]["tools"], legacy["result"]["tools"]);
    assert_eq!(legacy["result"]["resultType"], Value::Null);
}

#[tokio::test]
async fn a_url_offers_no_other_toolsets_tools() {
    let answer =
        client("/threads/t/mcp").await.legacy("tools/call", json!({"name": "TaskCreate", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("task_check, task_complete"));
}

#[tokio::test]
async fn a_toolset_that_does_not_exist_is_refused() {
    for query in ["toolset=Mastra", "toolset=", "toolset=mastra&toolset=all", "thread=t"] {
        let answer = client(&format!("/threads/t/mcp?{query}")).await.post("{}").await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, -32600), "{query}");
    }
    assert_eq!(names(&client("/threads/t/mcp?key=1&toolset=agentscope").await).await.len(), 4);
}

#[tokio::test]
async fn a_tool_asks_for_the_thread_where_nothing_else_names_it() {
    for (client, asks) in [
        (client("/mcp").await, true),
        (client("/mcp").await.header("x-thread-id", "t"), false),
        (client("/mcp?thread=header").await, false),
        (client("/threads/t/mcp").await, false),
    ] {
        let listed = client.legacy("tools/list", json!({})).await;
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["properties"]["thread_id"].is_object(), asks);
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            assert_eq!(required.contains(&json!("thread_id")), asks);
            let description = tool["description"].as_str().unwrap();
            assert_eq!(description.contains(r#"Example: {"thread_id": "thread-1""#), asks, "{description}");
            let (_, example) = description.split_once("Example: ").unwrap();
            assert!(serde_json::from_str::<Value>(example).is_ok(), "{example}");
        }
    }
}
