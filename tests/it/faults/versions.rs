//! Nobody overwrites what they have not seen, writers of different fields do not disturb each other, and a write that
//! changes nothing is no change.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::app::{Answer, App, texts};
use crate::support::process::Server;

const ROUNDS: usize = 20;

both_databases! {
    async fn of_two_writes_on_the_same_version_one_wins_and_the_other_is_shown_the_current_list(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        let apps = servers.each_ref().map(Server::app);
        for round in 1..=ROUNDS {
            let seen = apps[0].get("/threads/t/tasks").await.header("etag").to_owned();
            let write = |app: &App, name: &str| {
                let (app, body) = (app.header("if-match", &seen), list_of(&format!("{name} {round}")));
                // As a route, or as a tool.
                let (method, path) =
                    if round % 2 == 0 { ("PUT", "/threads/t/tasks") } else { ("POST", "/threads/t/tools/task_write") };
                tokio::spawn(async move { app.send(method, path, Some(&body.to_string())).await })
            };
            let (one, other) = (write(&apps[0], "One"), write(&apps[1], "Other"));
            let (one, other) = (one.await.unwrap(), other.await.unwrap());
            let (won, lost) = if one.status == StatusCode::OK { (one, other) } else { (other, one) };
            let (won_list, lost_list) = (won.ok(), lost.with_status(StatusCode::PRECONDITION_FAILED));
            assert_eq!(texts(&lost_list["tasks"], "content"), texts(&won_list["tasks"], "content"));
            assert_eq!((lost_list["revision"].as_u64(), lost_list["isError"].as_bool()), (Some(round as u64), Some(true)));
            let now = apps[1].get("/threads/t/tasks").await;
            assert_eq!(now.header("etag"), lost.header("etag"));
            assert_eq!(texts(&now.ok()["tasks"], "content"), texts(&won_list["tasks"], "content"));
        }
    }

    async fn updates_of_different_fields_at_the_same_time_are_all_kept(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        let apps = servers.each_ref().map(Server::app);
        for round in 1..=ROUNDS {
            let thread = format!("round-{round}");
            apps[0].done(&thread, "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
            let patches = [
                json!({"metadata": {"a": 1}}),
                json!({"metadata": {"b": 2}}),
                json!({"status": "completed"}),
                json!({"description": "What it is about"}),
                json!({"owner": "somebody"}),
            ];
            let patching: Vec<_> = patches
                .into_iter()
                .enumerate()
                .map(|(at, patch)| {
                    let (app, path) = (apps[at % 2].clone(), format!("/threads/{thread}/tasks/1"));
                    tokio::spawn(async move { app.patch(&path, &patch).await.ok() })
                })
                .collect();
            for patched in patching {
                patched.await.unwrap();
            }
            let mut task = apps[round % 2].get(&format!("/threads/{thread}/tasks/1")).await.ok();
            task["metadata"].as_object_mut().unwrap().sort_keys();
            assert_eq!(task["metadata"].to_string(), r#"{"a":1,"b":2}"#);
            assert_eq!(task["status"], "completed");
            assert_eq!(task["description"], "What it is about");
            assert_eq!(task["owner"], "somebody");
            assert_eq!(task["revision"], 6);
        }
    }

    async fn the_same_write_ten_times_is_one_change(database: TestDatabase) {
        let app = App::on(&database).await;
        let body = json!({"tasks": [
            {"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
            {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"},
            {"content": "Ship it", "status": "pending", "activeForm": "Shipping it"},
        ]});
        let first = app.done("tool", "task_write", &body).await;
        assert!(!first["content"].as_str().unwrap().contains("Nothing changed"), "{first}");
        for _ in 2..=10 {
            let again = app.done("tool", "task_write", &body).await;
            assert!(again["content"].as_str().unwrap().contains("Nothing changed"), "{again}");
            assert_eq!(again["tasks"], first["tasks"]);
        }
        let first = app.put("/threads/rest/tasks", &body).await;
        let mut unchanged = first.ok();
        for _ in 2..=10 {
            let again = app.put("/threads/rest/tasks", &body).await;
            assert!(again.ok()["content"].as_str().unwrap().contains("Nothing changed"), "{}", again.text);
            unchanged["content"] = again.ok()["content"].clone();
            assert_eq!(again.ok(), unchanged);
            assert_eq!(again.header("etag"), first.header("etag"));
        }
        for thread in ["tool", "rest"] {
            let history = app.done(thread, "task_history", &json!({})).await;
            assert_eq!(history["revision"], 1);
            assert_eq!(history["changes"].as_array().unwrap().len(), 1, "{history}");
        }
    }

    async fn what_a_write_cannot_set_or_does_not_know_is_refused_by_name(database: TestDatabase) {
        let app = App::on(&database).await;
        app.done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
        let before = app.list("t").await;
        for field in ["createdAt", "updatedAt", "completedAt", "revision", "lease", "contnet", "Status", "blocks"] {
            let patch = app.patch("/threads/t/tasks/1", &json!({"status": "completed", field: "x"})).await;
            is_named(&patch, &format!("/{field}"));
            if field != "blocks" {
                let create = app.post("/threads/t/tasks", &json!({"content": "x", field: "x"})).await;
                is_named(&create, &format!("/{field}"));
            }
            let item = json!({"content": "x", "status": "pending", "activeForm": "x", field: "x"});
            let write = app.put("/threads/t/tasks", &json!({"tasks": [item]})).await;
            is_named(&write, &format!("/tasks/0/{field}"));
            assert_eq!(app.list("t").await, before, "{field}");
        }
        is_named(&app.put("/threads/t/tasks", &json!({"tasks": [], "task": []})).await, "/task");
        assert_eq!(app.get("/threads/t/tasks?statsu=pending").await.with_status(StatusCode::BAD_REQUEST)["errors"][0]["pointer"], "/query/statsu");
        assert_eq!(app.list("t").await, before);
    }
}

fn list_of(content: &str) -> Value {
    json!({"tasks": [{"content": content, "status": "pending", "activeForm": "Doing it"}]})
}

fn is_named(answer: &Answer, pointer: &str) {
    let problem = answer.with_status(StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(texts(&problem["errors"], "pointer"), [pointer], "{problem}");
    assert!(problem["content"].as_str().unwrap().contains(pointer.rsplit('/').next().unwrap()), "{problem}");
}
