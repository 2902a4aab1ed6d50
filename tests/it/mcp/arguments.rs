//! Arguments as models really send them, and the thread among them.

use serde_json::json;

use crate::support::mcp::Mcp;

both_databases! {
    async fn arguments_are_understood_in_every_shape(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let task = r#"{"content":"a","status":"pending","activeForm":"a"}"#;
        let item = json!(task);
        let list = json!(format!("[{task}]"));
        let whole = json!(format!(r#"{{"tasks":[{task}]}}"#));
        for (at, arguments) in
            [format!(r#"{{"tasks":[{task}]}}"#), format!(r#"{{"tasks":[{item}]}}"#), format!(r#"{{"tasks":{list}}}"#), whole.to_string()]
                .into_iter()
                .enumerate()
        {
            let client = client.at(&format!("/threads/{at}/mcp"));
            let result = client.call("task_write", &arguments).await;
            assert_eq!(result["structuredContent"]["tasks"][0]["id"], "task_a", "{arguments}: {result}");
        }
        for nothing in ["null", r#""""#, "{}"] {
            let result = client.at("/threads/0/mcp").call("task_check", nothing).await;
            assert_eq!(result["structuredContent"]["summary"]["total"], 1, "{nothing}");
        }
    }

    async fn unknown_arguments_are_dropped_and_named(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let task = r#"{"content":"a","status":"pending","activeForm":"a","priority":1}"#;
        let result = client.call("task_write", &format!(r#"{{"tasks":[{task}],"why":2}}"#)).await;
        assert_eq!(result["structuredContent"]["warnings"], json!(["tasks[0].priority", "why"]));
    }

    async fn an_argument_names_the_thread_where_nothing_else_does(database: TestDatabase) {
        let client = Mcp::new(database.open().await).at("/mcp?toolset=all");
        for (at, arguments) in [
            r#"{"thread_id":"7","subject":"s","description":""}"#,
            r#"{"thread_id":7,"subject":"s","description":""}"#,
            r#"{"threadId":"7","subject":"s","description":""}"#,
            r#""{\"thread_id\":\"7\",\"subject\":\"s\",\"description\":\"\"}""#,
        ]
        .into_iter()
        .enumerate()
        {
            let result = client.call("TaskCreate", arguments).await;
            assert_eq!(result["structuredContent"]["task"]["id"], json!((at + 1).to_string()), "{result}");
            assert_eq!(result["structuredContent"]["warnings"], json!(null));
        }
        let bound = client.at("/threads/7/mcp?toolset=agentscope").call("TaskList", "{}").await;
        assert_eq!(bound["structuredContent"]["tasks"].as_array().unwrap().len(), 4);
    }

    async fn a_call_that_names_no_thread_or_another_one_is_refused(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        let nowhere = client.at("/mcp");
        for arguments in ["{}", r#"{"thread_id":null}"#, "[]", r#"{"thread_id":".."}"#, r#"{"thread_id":true}"#] {
            let result = nowhere.call("task_check", arguments).await;
            assert_eq!(result["structuredContent"]["isError"], true, "{arguments}");
            assert_eq!(result["structuredContent"]["tasks"], json!([]));
            assert!(result["content"][0]["text"].as_str().unwrap().contains("thread_id"), "{result}");
        }
        for bound in [client.clone(), nowhere.header("x-thread-id", "t")] {
            let other = bound.call("task_check", r#"{"thread_id":"u"}"#).await;
            assert_eq!(other["structuredContent"]["isError"], true);
            let same = bound.call("task_check", r#"{"thread_id":"t"}"#).await;
            assert_eq!(same["structuredContent"]["isError"], false);
        }
        let unsaid = client.at("/mcp?thread=header").call("task_check", "{}").await;
        assert!(unsaid["content"][0]["text"].as_str().unwrap().contains("X-Thread-Id"), "{unsaid}");
        let two = nowhere.call("task_check", r#"{"thread_id":"t","threadId":"u"}"#).await;
        assert_eq!(two["structuredContent"]["isError"], true);
    }
}
