//! Tasks never wait for each other in a circle, and a task waits for what is open and for nothing else.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::app::{App, texts};
use crate::support::process::Server;

const ROUNDS: usize = 100;

both_databases! {
    async fn two_writers_never_make_two_tasks_wait_for_each_other(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        let apps = servers.each_ref().map(Server::app);
        for round in 1..=ROUNDS {
            let thread = format!("round {round}");
            create(&apps[0], &thread, 2).await;
            let wait = |app: &App, id: &str, blocker: &str| {
                let (app, thread) = (app.clone(), thread.clone());
                let arguments = json!({"task_id": id, "add_blocked_by": [blocker]});
                tokio::spawn(async move { app.tool(&thread, "TaskUpdate", &arguments).await })
            };
            let (one, other) = (wait(&apps[0], "1", "2"), wait(&apps[1], "2", "1"));
            let results = [one.await.unwrap(), other.await.unwrap()];
            let [refused] = &*results.iter().filter(|result| result["isError"] == true).collect::<Vec<_>>() else {
                panic!("{thread}: one wins and one loses, {results:?}");
            };
            let text = refused["content"].as_str().unwrap();
            let is_path = text.contains("1 blocks 2 blocks 1") || text.contains("2 blocks 1 blocks 2");
            assert!(is_path, "the path is not named: {text}");
            let waiting = blocked_by(&apps[round % 2], &thread).await;
            assert_eq!(waiting.iter().filter(|blockers| !blockers.is_empty()).count(), 1, "{thread}: {waiting:?}");
        }
    }

    async fn an_edge_that_cannot_be_is_refused_by_name(database: TestDatabase) {
        let app = App::on(&database).await;
        create(&app, "other", 5).await;
        create(&app, "t", 4).await;
        for (id, blocker) in [("2", "1"), ("3", "2")] {
            app.done("t", "TaskUpdate", &json!({"task_id": id, "add_blocked_by": [blocker]})).await;
        }
        let before = app.list("t").await;
        for (id, blocker, status, code, words) in [
            ("1", "3", StatusCode::CONFLICT, "dependency_cycle", &["3 cannot block task 1", "1 blocks 2 blocks 3 blocks 1"][..]),
            ("1", "1", StatusCode::UNPROCESSABLE_ENTITY, "self_dependency", &["1 cannot block itself"][..]),
            ("1", "9", StatusCode::CONFLICT, "unknown_dependency", &["9", "1, 2, 3, 4"][..]),
            // There is such a task, but in another thread.
            ("1", "5", StatusCode::CONFLICT, "unknown_dependency", &["5", "1, 2, 3, 4"][..]),
        ] {
            // What else is in the call is not done either.
            let arguments = json!({"task_id": id, "add_blocked_by": [blocker], "status": "completed"});
            let refused = app.tool("t", "TaskUpdate", &arguments).await;
            assert_eq!(refused["isError"], true, "{refused}");
            let body = json!({"addBlockedBy": [blocker], "status": "completed"});
            let problem = app.patch(&format!("/threads/t/tasks/{id}"), &body).await.with_status(status);
            assert_eq!(problem["code"], code);
            for text in [&refused["content"], &problem["content"]] {
                assert!(words.iter().all(|word| text.as_str().unwrap().contains(word)), "{code}: {text}");
            }
            assert_eq!(app.list("t").await, before, "{code}");
        }
        let cycle = app.patch("/threads/t/tasks/1", &json!({"addBlockedBy": ["3"]})).await.json();
        let path = cycle["cycle"].as_array().unwrap();
        assert_eq!((path.len(), path.first()), (4, path.last()), "{cycle}");
    }

    async fn an_edge_to_a_completed_task_does_not_block(database: TestDatabase) {
        let app = App::on(&database).await;
        create(&app, "t", 2).await;
        app.done("t", "TaskUpdate", &json!({"task_id": "1", "status": "completed"})).await;
        app.done("t", "TaskUpdate", &json!({"task_id": "2", "add_blocked_by": ["1"]})).await;
        let list = app.list("t").await;
        assert_eq!(list["tasks"][0]["blocks"], json!(["2"]));
        assert_eq!(list["tasks"][1]["blockedBy"], json!([]));
        assert_eq!(ready(&app).await, ["2"]);
    }

    async fn completing_a_blocker_frees_what_waits_and_reopening_it_blocks_again(database: TestDatabase) {
        let app = App::on(&database).await;
        create(&app, "t", 3).await;
        app.done("t", "TaskUpdate", &json!({"task_id": "1", "add_blocks": ["2", "3"]})).await;
        app.done("t", "TaskUpdate", &json!({"task_id": "3", "add_blocked_by": ["2"]})).await;
        assert_eq!(agreed(&app).await, [vec![], vec!["1".to_owned()], vec!["1".to_owned(), "2".to_owned()]]);
        assert_eq!(ready(&app).await, ["1"]);

        let completed = app.done("t", "TaskUpdate", &json!({"task_id": "1", "status": "completed"})).await;
        assert_eq!(completed["unblocked"], json!(["2"]));
        assert_eq!(agreed(&app).await, [vec![], vec![], vec!["2".to_owned()]]);
        assert_eq!(ready(&app).await, ["2"]);

        app.patch("/threads/t/tasks/1", &json!({"status": "pending"})).await.ok();
        assert_eq!(agreed(&app).await, [vec![], vec!["1".to_owned()], vec!["1".to_owned(), "2".to_owned()]]);
        assert_eq!(ready(&app).await, ["1"]);

        app.done("t", "task_complete", &json!({"id": "1"})).await;
        assert_eq!(agreed(&app).await, [vec![], vec![], vec!["2".to_owned()]]);
    }
}

async fn create(app: &App, thread: &str, count: usize) {
    for number in 1..=count {
        app.done(thread, "TaskCreate", &json!({"subject": format!("Task {number}"), "description": ""})).await;
    }
}

/// Returns the open blockers of each task.
async fn blocked_by(app: &App, thread: &str) -> Vec<Vec<String>> {
    blockers(&app.list(thread).await["tasks"], "blockedBy")
}

fn blockers(tasks: &Value, key: &str) -> Vec<Vec<String>> {
    let ids = |task: &Value| task[key].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    tasks.as_array().unwrap().iter().map(ids).collect()
}

/// Returns the open blockers of each task, on which REST, `TaskList` and `TaskGet` agree.
async fn agreed(app: &App) -> Vec<Vec<String>> {
    let rest = app.list("t").await["tasks"].clone();
    let listed = app.done("t", "TaskList", &json!({})).await["tasks"].clone();
    let mut got = Vec::new();
    for id in app.ids("t").await {
        got.push(app.done("t", "TaskGet", &json!({"task_id": id})).await["task"].clone());
    }
    let got = Value::from(got);
    assert_eq!(blockers(&listed, "blocked_by"), blockers(&rest, "blockedBy"));
    assert_eq!(blockers(&listed, "blocks"), blockers(&rest, "blocks"));
    assert_eq!(listed, got);
    blockers(&rest, "blockedBy")
}

/// Returns the ids of the tasks that can be begun, on which REST and `TaskList` agree.
async fn ready(app: &App) -> Vec<String> {
    let rest = texts(&app.get("/threads/t/tasks?ready=true").await.ok()["tasks"], "id");
    let listed = texts(&app.done("t", "TaskList", &json!({"ready": true})).await["tasks"], "id");
    assert_eq!(rest, listed);
    rest
}
