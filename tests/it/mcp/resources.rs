//! A thread's task list as a resource.

use serde_json::{Value, json};

use crate::support::mcp::Mcp;

const URI: &str = "tasklane://threads/a%2Fb/tasks";

both_databases! {
    async fn a_threads_list_is_read_as_json_and_as_text(database: TestDatabase) {
        let client = Mcp::new(database.open().await).at("/threads/a%2Fb/mcp");
        client.call("task_write", r#"{"tasks":[{"content":"a","status":"pending","activeForm":"a"}]}"#).await;
        let listed = client.modern("resources/list", json!({})).await;
        assert_eq!(listed["result"]["resources"][0]["uri"], URI);
        assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1);
        for read in [
            client.modern("resources/read", json!({"uri": URI})).await,
            client.legacy("resources/read", json!({"uri": URI})).await,
            client.at("/mcp").legacy("resources/read", json!({"uri": URI})).await,
        ] {
            let contents = &read["result"]["contents"];
            assert_eq!((&contents[0]["uri"], &contents[1]["uri"]), (&json!(URI), &json!(URI)), "{read}");
            assert_eq!(contents[0]["mimeType"], "application/json");
            let body: Value = serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(body["tasks"][0]["id"], "task_a");
            assert_eq!(contents[1]["mimeType"], "text/plain");
            assert_eq!(contents[1]["text"], body["content"]);
        }
    }

    async fn a_bound_url_shows_no_other_thread(database: TestDatabase) {
        let client = Mcp::new(database.open().await);
        for uri in [URI, "tasklane://threads/../tasks", "file:///etc/passwd"] {
            let legacy = client.legacy("resources/read", json!({"uri": uri})).await;
            assert_eq!((&legacy["error"]["code"], &legacy["error"]["data"]["uri"]), (&json!(-32002), &json!(uri)));
            let modern = client.modern("resources/read", json!({"uri": uri})).await;
            assert_eq!(modern["error"]["code"], -32602);
        }
        let listed = client.legacy("resources/templates/list", json!({})).await;
        assert_eq!(listed["result"]["resourceTemplates"], json!([]));
        let anywhere = client.at("/mcp").legacy("resources/templates/list", json!({})).await;
        assert_eq!(
            anywhere["result"]["resourceTemplates"][0]["uriTemplate"],
            "tasklane://threads/{thread_id}/tasks"
        );
        assert_eq!(client.at("/mcp").legacy("resources/list", json!({})).await["result"]["resources"], json!([]));
    }
}
