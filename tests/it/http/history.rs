//! Who changed a list, when and how; what it was, and making it that again.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};
use tasklane::http::state::Draining;
use tasklane::server;

use crate::support::app::{self, App, texts};
use crate::support::clock::TestClock;
use crate::support::wait::until;

both_databases! {
    async fn each_change_is_told_with_who_when_how_and_the_tasks_before_and_after(database: TestDatabase) {
        let app = App::on(&database).await;
        let writer = app.header("x-actor", "J%C3%BCrgen");
        writer.post("/threads/t/tasks", &json!({"content": "A"})).await.with_status(StatusCode::CREATED);
        app.patch("/threads/t/tasks/1", &json!({"content": "A, but better"})).await.ok();
        app.patch("/threads/t/tasks/1", &json!({"content": "A, but better"})).await.ok();
        assert_eq!(app.delete("/threads/t/tasks/1").await.status, StatusCode::NO_CONTENT);

        let history = app.get("/threads/t/history").await.ok();
        assert_eq!((&history["revision"], &history["oldestRevision"]), (&json!(3), &json!(0)));
        assert!(history.get("nextAfter").is_none(), "{history}");
        let changes = history["changes"].as_array().unwrap();
        assert_eq!(texts(&history["changes"], "operation"), ["task_create", "task_update", "task_delete"]);
        assert_eq!(texts(&history["changes"], "actor"), ["Jürgen", "anonymous", "anonymous"]);
        assert_eq!(texts(&history["changes"], "summary"), ["1 added", "1 updated", "1 removed"]);
        assert!(texts(&history["changes"], "at").is_sorted());
        let op = |at: usize| &changes[at]["ops"][0];
        assert_eq!((&op(0)["op"], &op(0)["task"]["content"]), (&json!("add"), &json!("A")));
        assert_eq!((&op(1)["before"]["content"], &op(1)["task"]["content"]), (&json!("A"), &json!("A, but better")));
        assert_eq!((&op(2)["op"], &op(2)["id"]), (&json!("remove"), &json!("1")));
        assert_eq!(op(2)["before"]["content"], "A, but better");
    }

    async fn a_history_comes_in_pages_and_for_one_task(database: TestDatabase) {
        let app = App::on(&database).await;
        for number in 1..=3 {
            app.done("t", "TaskCreate", &json!({"subject": format!("Task {number}"), "description": ""})).await;
        }
        for id in ["1", "2", "1", "3", "1"] {
            let status = if app.get(&format!("/threads/t/tasks/{id}")).await.ok()["status"] == "pending" {
                "completed"
            } else {
                "pending"
            };
            app.patch(&format!("/threads/t/tasks/{id}"), &json!({"status": status})).await.ok();
        }
        let pages = async |query: &str| {
            let (mut revisions, mut after) = (Vec::new(), 0);
            loop {
                let page = app.get(&format!("/threads/t/history?after={after}&{query}")).await.ok();
                revisions.extend(page["changes"].as_array().unwrap().iter().map(|change| change["revision"].as_i64().unwrap()));
                match page["nextAfter"].as_i64() {
                    Some(next) => after = next,
                    None => return revisions,
                }
            }
        };
        assert_eq!(pages("limit=3").await, (1..=8).collect::<Vec<_>>());
        assert_eq!(pages("limit=100").await, (1..=8).collect::<Vec<_>>());
        assert_eq!(pages("limit=1&id=1").await, [1, 4, 6, 8]);
        assert_eq!(pages("limit=2&id=3").await, [3, 7]);
        assert!(pages("id=unknown").await.is_empty());
        assert_eq!(app.get("/threads/t/history?after=-1").await.status, StatusCode::BAD_REQUEST);
        assert_eq!(app.get("/threads/t/history?limit=0").await.status, StatusCode::BAD_REQUEST);
    }

    async fn a_restored_list_is_what_it_was_and_the_restore_can_be_undone(database: TestDatabase) {
        let app = App::on(&database).await;
        let create = async |body: Value| app.post("/threads/t/tasks", &body).await.with_status(StatusCode::CREATED);
        create(json!({"id": "a", "content": "A", "metadata": {"b": 1, "a": 1.0}})).await;
        create(json!({"id": "b", "content": "B", "description": "About B", "owner": "me", "blockedBy": ["a"]})).await;
        create(json!({"id": "c", "content": "C", "status": "completed", "blocks": ["b"]})).await;
        let then = app.list("t").await;
        app.delete("/threads/t/tasks/a").await;
        app.put("/threads/t/tasks", &json!({"tasks": [
            {"id": "c", "content": "C", "status": "pending", "activeForm": "Doing C"},
            {"id": "d", "content": "D", "status": "pending", "activeForm": "Doing D"},
            {"id": "b", "content": "B", "status": "in_progress", "activeForm": "Doing B"},
        ]})).await.ok();
        create(json!({"content": "Numbered"})).await;
        let before = app.list("t").await;

        let restored = app.post("/threads/t/restore", &json!({"revision": then["revision"]})).await.ok();
        assert_eq!(restored["revision"], 7);
        assert_eq!(restored["removed"].as_array().unwrap().len(), 2, "{restored}");
        assert_eq!(restored["restored"], json!(["a", "b", "c"]));
        assert_eq!(without_stamps(&app.list("t").await["tasks"]), without_stamps(&then["tasks"]));
        // The counter went on: a number that was given once is never given again.
        let undone = app.post("/threads/t/restore", &json!({"revision": before["revision"]})).await.ok();
        assert_eq!(undone["revision"], 8);
        assert_eq!(without_stamps(&app.list("t").await["tasks"]), without_stamps(&before["tasks"]));
        assert_eq!(create(json!({"content": "Next"})).await["id"], "2");
        let again = app.post("/threads/t/restore", &json!({"revision": 9})).await.ok();
        assert!(again["content"].as_str().unwrap().contains("othing changed"), "{again}");
        assert_eq!(again["revision"], 9);
    }

    async fn what_is_not_kept_or_not_yet_cannot_be_restored(database: TestDatabase) {
        let app = App::on(&database).await;
        let restore = async |revision: i64| app.post("/threads/t/restore", &json!({"revision": revision})).await;
        app.post("/threads/t/tasks", &json!({"content": "A"})).await;
        assert_eq!(restore(2).await.with_status(StatusCode::CONFLICT)["code"], "future_revision");
        assert_eq!(restore(-1).await.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(app.delete("/threads/t").await.status, StatusCode::NO_CONTENT);
        app.post("/threads/t/tasks", &json!({"content": "B"})).await;
        let refused = restore(1).await.with_status(StatusCode::CONFLICT);
        assert_eq!(refused["code"], "revision_not_kept");
        assert_eq!(texts(&refused["tasks"], "content"), ["B"]);
        assert_eq!(restore(2).await.ok()["removed"], json!(["2"]));
        let oldest = app.get("/threads/t/history").await.ok()["oldestRevision"].clone();
        assert_eq!(oldest, 2);
        let refused = app.tool("t", "task_restore", &json!({"revision": 1})).await;
        assert_eq!(refused["isError"], true, "{refused}");
    }

    async fn of_one_list_only_so_many_changes_are_kept(database: TestDatabase) {
        let app = App::with(&database, &["--history-changes-max", "20"]).await;
        app.post("/threads/t/tasks", &json!({"content": "A"})).await;
        for number in 2..=256 {
            app.patch("/threads/t/tasks/1", &json!({"description": number.to_string()})).await.ok();
        }
        let history = until("old changes are forgotten", async || {
            let history = app.get("/threads/t/history?limit=100").await.ok();
            (history["oldestRevision"] != 0).then_some(history)
        })
        .await;
        assert_eq!(history["oldestRevision"], 236);
        assert_eq!(history["changes"].as_array().unwrap().len(), 20);
        let refused = app.post("/threads/t/restore", &json!({"revision": 235})).await;
        assert_eq!(refused.with_status(StatusCode::CONFLICT)["code"], "revision_not_kept");
        app.post("/threads/t/restore", &json!({"revision": 236})).await.ok();
        assert_eq!(app.list("t").await["tasks"][0]["description"], "236");
    }

    async fn what_is_old_is_forgotten_but_never_the_newest_change(database: TestDatabase) {
        let app = App::on(&database).await;
        let keyed = app.header("idempotency-key", "k");
        let created = keyed.post("/threads/t/tasks", &json!({"content": "A"})).await.with_status(StatusCode::CREATED);
        app.patch("/threads/t/tasks/1", &json!({"description": "More"})).await.ok();

        let settings = app::settings(&[]);
        let tomorrow = app::lists(&database, &settings, Arc::new(TestClock::days_ahead(2))).await;
        tomorrow.forget_old().await.unwrap();
        // Of its answers a day is kept, of its changes more.
        assert_eq!(app.get("/threads/t/history").await.ok()["changes"].as_array().unwrap().len(), 2);
        let again = keyed.post("/threads/t/tasks", &json!({"content": "A"})).await.with_status(StatusCode::CREATED);
        assert_ne!(again["id"], created["id"]);

        let much_later = app::lists(&database, &settings, Arc::new(TestClock::days_ahead(100))).await;
        much_later.forget_old().await.unwrap();
        let late = App::of(server::app(&settings, much_later, Draining::default()));
        let history = late.get("/threads/t/history").await.ok();
        assert_eq!((&history["revision"], &history["oldestRevision"]), (&json!(3), &json!(2)));
        assert_eq!(texts(&history["changes"], "operation"), ["task_create"]);
        assert_eq!(late.ids("t").await, ["1", "2"]);
        let refused = late.post("/threads/t/restore", &json!({"revision": 1})).await;
        assert_eq!(refused.with_status(StatusCode::CONFLICT)["code"], "revision_not_kept");
    }
}

/// Leaves out what tells when a task last came to read as it does.
fn without_stamps(tasks: &Value) -> Value {
    let mut tasks = tasks.clone();
    for task in tasks.as_array_mut().unwrap() {
        task.as_object_mut().unwrap().retain(|key, _| key != "revision" && key != "updatedAt");
    }
    tasks
}
