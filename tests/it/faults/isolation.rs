//! Two resources never see each other, not even that a thread exists.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::app::{App, texts};

both_databases! {
    async fn one_thread_id_under_two_resources_is_two_lists(database: TestDatabase) {
        let app = App::on(&database).await;
        let ours = app.header("x-resource-id", "ours");
        let theirs = app.header("x-resource-id", "theirs");
        let nobodys = app.header("x-resource-id", "nobodys");
        ours.done("t", "TaskCreate", &json!({"subject": "Ours", "description": ""})).await;
        ours.done("t", "TaskCreate", &json!({"subject": "Ours too", "description": ""})).await;
        theirs.done("t", "TaskCreate", &json!({"subject": "Theirs", "description": ""})).await;

        assert_eq!(texts(&ours.list("t").await["tasks"], "content"), ["Ours", "Ours too"]);
        assert_eq!(texts(&theirs.list("t").await["tasks"], "content"), ["Theirs"]);
        theirs.put("/threads/t/tasks", &json!({"tasks": []})).await.ok();
        assert_eq!(ours.list("t").await["revision"], 2);
        assert_eq!(theirs.delete("/threads/t").await.status, StatusCode::NO_CONTENT);
        assert_eq!(ours.ids("t").await, ["1", "2"]);

        // Whoever has no list of this name sees what they see of any name.
        let mut unused = nobodys.list("never-used").await;
        unused["threadId"] = "t".into();
        assert_eq!(nobodys.list("t").await, unused);
        assert_eq!(unused["revision"], 0);
        for (method, path) in [
            ("GET", "/threads/NAME"),
            ("DELETE", "/threads/NAME"),
            ("GET", "/threads/NAME/tasks/1"),
            ("DELETE", "/threads/NAME/tasks/1"),
            ("POST", "/threads/NAME/tasks/1/complete"),
        ] {
            let at = async |thread: &str| {
                let problem = nobodys.send(method, &path.replace("NAME", thread), None).await;
                let mut problem = problem.with_status(StatusCode::NOT_FOUND);
                problem["instance"] = "".into();
                problem
            };
            assert_eq!(at("t").await, at("never-used").await, "{method} {path}");
        }
        for (tool, arguments) in [
            ("TaskGet", json!({"task_id": "1"})),
            ("TaskUpdate", json!({"task_id": "1", "status": "completed"})),
            ("task_complete", json!({"id": "1"})),
            ("task_claim", json!({"owner": "nobody"})),
            ("task_history", json!({})),
            ("task_restore", json!({"revision": 1})),
        ] {
            let (here, there) = (nobodys.tool("t", tool, &arguments).await, nobodys.tool("never-used", tool, &arguments).await);
            assert_eq!(here, there, "{tool}");
        }
        assert_eq!(nobodys.get("/threads").await.ok()["threads"], json!([]));
        assert_eq!(texts(&ours.get("/threads").await.ok()["threads"], "threadId"), ["t"]);
        assert_eq!(ours.ids("t").await, ["1", "2"]);
    }
}
