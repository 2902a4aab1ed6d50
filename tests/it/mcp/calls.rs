//! Calls that do something, and calls that are refused, in each toolset's form.

use serde_json::{Value, json};

use crate::support::mcp::Mcp;

const WRITE: &str = r#"{"tasks":[{"content":"Do it","status":"pending","activeForm":"Doing it"}]}"#;

fn is_refused(result: &Value, is_error: bool) {
    assert_eq!(result["isError"], is_error, "{result}");
    assert_eq!(result["structuredContent"]["isError"], true, "{result}");
    assert_eq!(result["content"][0]["text"], result["structuredContent"]["content"]);
}

both_databases! {
    async fn a_call_is_answered_by_a_text_and_a_structure(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let result = client.call("task_write", WRITE).await;
        let task = json!({"id": "task_do_it", "content": "Do it", "status": "pending", "activeForm": "Doing it"});
        assert_eq!(result["isError"], false);
        assert_eq!(result["structuredContent"]["tasks"], json!([task]));
        assert_eq!(result["content"][0]["text"], result["structuredContent"]["content"]);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("task_do_it"));
        for check in [
            client.modern("tools/call", json!({"name": "task_check", "arguments": {}})).await,
            client.modern("tools/call", json!({"name": "task_check"})).await,
            client.legacy("tools/call", json!({"name": "task_check"})).await,
        ] {
            assert_eq!(check["result"]["structuredContent"]["tasks"], json!([task]), "{check}");
        }
    }

    async fn threads_and_resources_do_not_see_each_other(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        client.call("task_write", WRITE).await;
        for other in [
            client.at("/threads/u/mcp"),
            client.header("x-resource-id", "other"),
            client.at("/mcp").header("x-thread-id", "T"),
        ] {
            assert_eq!(other.call("task_check", "{}").await["structuredContent"]["tasks"], json!([]));
        }
        let same = client.at("/mcp").header("x-thread-id", "t").call("task_check", "{}").await;
        assert_eq!(same["structuredContent"]["tasks"][0]["id"], "task_do_it");
    }

    async fn a_refusal_keeps_its_structure_for_mastra_and_is_an_error_for_the_others(database: TestDatabase) {
        let client = Mcp::new(database.open().await).at("/threads/t/mcp?toolset=all");
        client.call("task_write", WRITE).await;
        for arguments in [r#"{"id":"nope"}"#, "{}", r#"{"id":7.5}"#, "[]", r#""{""#] {
            let result = client.call("task_complete", arguments).await;
            is_refused(&result, false);
            assert_eq!(result["structuredContent"]["tasks"][0]["id"], "task_do_it");
        }
        for arguments in [r#"{"task_id":"nope","status":"completed"}"#, "{}", "[]"] {
            is_refused(&client.call("TaskUpdate", arguments).await, true);
        }
    }

    async fn numbers_and_keys_come_back_as_they_were_sent(database: TestDatabase) {
        let client = Mcp::new(database.open().await).at("/threads/t/mcp?toolset=agentscope");
        let metadata = r#"{"z":1.0,"a":1E0,"big":123456789012345678901234567890,"n":{"y":-0,"x":1e400}}"#;
        let arguments = format!(r#"{{"subject":"s","description":"","metadata":{metadata}}}"#);
        for text in [client.call_text("TaskCreate", &arguments).await, client.call_text("TaskList", "{}").await] {
            assert!(text.contains(metadata), "{text}");
        }
        let twice = client.call("TaskCreate", r#"{"subject":"s","description":"","metadata":{"a":1,"a":2}}"#).await;
        is_refused(&twice, true);
        assert!(twice["content"][0]["text"].as_str().unwrap().contains("given twice"));
    }

    async fn a_call_obeys_the_condition_in_its_headers(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let new = client.header("if-none-match", "*");
        assert_eq!(new.call("task_write", WRITE).await["structuredContent"]["isError"], false);
        let complete = r#"{"id":"task_do_it"}"#;
        for stale in [new, client.header("if-match", "\"7\""), client.header("if-match", "\"list-1-0000000000000000\"")] {
            let refused = stale.call("task_complete", complete).await;
            is_refused(&refused, false);
            assert_eq!(refused["structuredContent"]["tasks"][0]["status"], "pending", "{refused}");
        }
        let named = client.header("if-none-match", "\"1\"");
        is_refused(&named.call("task_complete", complete).await, false);
        assert_eq!(named.call("task_check", "{}").await["structuredContent"]["isError"], false);
        let done = client.header("if-match", "\"1\"").call("task_complete", complete).await;
        assert_eq!(done["structuredContent"]["isError"], false, "{done}");
    }

    async fn a_call_with_a_key_is_done_once(database: TestDatabase) {
        let client = Mcp::new(database.open().await).at("/threads/t/mcp?toolset=agentscope");
        let arguments = json!({"subject": "s", "description": ""});
        let in_meta = json!({
            "name": "TaskCreate", "arguments": arguments, "_meta": {"io.tasklane/idempotency-key": "k"},
        });
        let first = client.modern("tools/call", in_meta.clone()).await["result"].clone();
        assert_eq!(first["structuredContent"]["task"]["id"], "1");
        assert_eq!(first["_meta"]["io.tasklane/idempotency-replayed"], Value::Null);
        for again in [
            client.modern("tools/call", in_meta.clone()).await["result"].clone(),
            client.call("TaskCreate", r#"{"subject":"s","description":"","idempotency_key":"k"}"#).await,
            client.header("idempotency-key", "k").call("TaskCreate", r#"{"subject":"s","description":""}"#).await,
        ] {
            assert_eq!(again["_meta"]["io.tasklane/idempotency-replayed"], true, "{again}");
            assert_eq!(again["structuredContent"], first["structuredContent"]);
            assert_eq!(again["content"], first["content"]);
        }
        let keyed = client.header("idempotency-key", "k");
        is_refused(&keyed.call("TaskCreate", r#"{"subject":"o","description":""}"#).await, true);
        // Nothing is shown that the list is not.
        let written = client.at("/threads/t/mcp").header("idempotency-key", "w");
        assert_eq!(written.call("task_complete", r#"{"id":"1"}"#).await["structuredContent"]["isError"], false);
        let reused = written.call("task_complete", r#"{"id":"2"}"#).await;
        is_refused(&reused, false);
        assert_eq!(reused["structuredContent"]["tasks"][0]["id"], "1", "{reused}");
        let disagree = keyed.call("TaskCreate", r#"{"subject":"s","description":"","idempotency_key":"l"}"#).await;
        is_refused(&disagree, true);
        let tasks = client.call("TaskList", r#"{"idempotency_key":"k"}"#).await;
        assert_eq!(tasks["structuredContent"]["tasks"].as_array().unwrap().len(), 1);
    }
}
