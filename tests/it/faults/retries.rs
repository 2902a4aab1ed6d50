//! Whoever lost an answer repeats the call under its key and gets that answer, from any process, however long after.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::app::{Answer, App};
use crate::support::process::Server;
use crate::support::wait::{at_once, until};

const CREATE: &str = "/threads/t/tasks";

both_databases! {
    async fn a_creation_whose_answer_was_lost_is_one_task_however_often_and_wherever_it_is_repeated(database: TestDatabase) {
        let [one, other] = Server::start_several(&database).await;
        let body = json!({"content": "Order the parts", "metadata": {"n": 12_345_678_901_234_567_890_u64}});
        let caller = one.app().header("idempotency-key", "order-1");
        // The one who asked is gone before the answer is.
        let lost = tokio::spawn({
            let (caller, body) = (caller.clone(), body.clone());
            async move { caller.post(CREATE, &body).await }
        });
        until("the task is created", async || (!one.app().ids("t").await.is_empty()).then_some(())).await;
        lost.abort();

        let first = caller.post(CREATE, &body).await;
        is_replayed(&first, StatusCode::CREATED);
        let same = |again: &Answer| {
            is_replayed(again, StatusCode::CREATED);
            assert_eq!((&again.text, again.header("location")), (&first.text, first.header("location")));
            assert_eq!(again.header("etag"), first.header("etag"));
        };
        let elsewhere = other.app().header("idempotency-key", "order-1");
        same(&elsewhere.post(CREATE, &body).await);
        one.kill();
        other.kill();
        let restarted = Server::start(&database).await;
        let later = restarted.app().header("idempotency-key", "order-1");
        same(&later.post(CREATE, &body).await);
        // What is not the task any more is still what it was answered with.
        restarted.app().patch("/threads/t/tasks/1", &json!({"status": "completed"})).await.ok();
        same(&later.post(CREATE, &body).await);

        let another = later.post(CREATE, &json!({"content": "Order other parts"})).await;
        assert_eq!(another.with_status(StatusCode::UNPROCESSABLE_ENTITY)["code"], "idempotency_key_reused");
        assert_eq!(restarted.app().ids("t").await, ["1"]);
        assert_eq!(restarted.app().list("t").await["revision"], 2);
    }

    async fn repeats_that_come_at_once_to_two_processes_are_done_once(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        let apps = servers.each_ref().map(|server| server.app().header("idempotency-key", "the same"));
        for round in 1..=10 {
            let thread = format!("round-{round}");
            let answers = at_once(8, 1..=16, {
                let (apps, thread) = (apps.clone(), thread.clone());
                move |caller, _| {
                    let (app, path) = (apps[caller % 2].clone(), format!("/threads/{thread}/tasks"));
                    async move { app.post(&path, &json!({"content": "Once"})).await }
                }
            })
            .await;
            let bodies: Vec<Value> = answers.iter().map(|answer| answer.with_status(StatusCode::CREATED)).collect();
            assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
            let fresh = answers.iter().filter(|answer| answer.header("idempotency-replayed").is_empty()).count();
            assert_eq!(fresh, 1, "{answers:?}");
            assert_eq!(apps[0].ids(&thread).await, ["1"]);
        }
    }

    async fn every_write_and_every_writing_tool_is_answered_alike_when_it_is_repeated(database: TestDatabase) {
        let app = App::on(&database).await;
        let item = json!({"id": "a", "content": "A", "status": "pending", "activeForm": "Doing A"});
        let list = json!({"tasks": [item, {"id": "b", "content": "B", "status": "pending", "activeForm": "Doing B"}]});
        // Each is done once before its repeat, on what the ones above it have left.
        for (method, path, body) in [
            ("PUT", "/threads/t/tasks", list.clone()),
            ("POST", "/threads/t/tasks", json!({"content": "C"})),
            ("PATCH", "/threads/t/tasks/a", json!({"description": "More"})),
            ("POST", "/threads/t/tasks/b/complete", Value::Null),
            ("POST", "/threads/t/claim", json!({"owner": "me"})),
            ("POST", "/threads/t/tasks/a/heartbeat", json!({"leaseToken": "TOKEN"})),
            ("POST", "/threads/t/tasks/a/release", json!({"force": true})),
            ("POST", "/threads/t/tasks/a/claim", json!({"owner": "me"})),
            ("DELETE", "/threads/t/tasks/1", Value::Null),
            ("POST", "/threads/t/restore", json!({"revision": 1})),
            ("POST", "/threads/t/tools/task_write", list.clone()),
            ("POST", "/threads/t/tools/task_update", json!({"id": "a", "status": "in_progress"})),
            ("POST", "/threads/t/tools/task_complete", json!({"id": "a"})),
            ("POST", "/threads/t/tools/TaskCreate", json!({"subject": "D", "description": ""})),
            ("POST", "/threads/t/tools/TaskUpdate", json!({"task_id": "b", "add_blocked_by": ["a"]})),
            ("POST", "/threads/t/tools/task_claim", json!({"owner": "me", "id": "b"})),
            ("POST", "/threads/t/tools/task_heartbeat", json!({"id": "b", "lease_token": "TOKEN"})),
            ("POST", "/threads/t/tools/task_release", json!({"id": "b", "force": true})),
            ("POST", "/threads/t/tools/task_restore", json!({"revision": 1})),
            ("DELETE", "/threads/t/tasks", Value::Null),
            ("DELETE", "/threads/t", Value::Null),
        ] {
            let token = app.list("t").await["tasks"]
                .as_array()
                .and_then(|tasks| tasks.iter().find(|task| !task["lease"].is_null()))
                .map(|task| task["id"].clone());
            let body = match token {
                Some(id) if body.to_string().contains("TOKEN") => {
                    // Claiming again as the holder tells the token again.
                    let claim = app.done("t", "task_claim", &json!({"owner": "me", "id": id})).await;
                    body.to_string().replace("TOKEN", claim["lease"]["token"].as_str().unwrap())
                }
                _ => body.to_string(),
            };
            let body = (body != "null").then_some(body);
            let keyed = app.header("idempotency-key", &format!("{method} {path}"));
            let first = keyed.send(method, path, body.as_deref()).await;
            assert!(first.status.is_success(), "{method} {path}: {}", first.text);
            assert!(!first.text.contains(r#""isError":true"#), "{method} {path}: {}", first.text);
            assert_eq!(first.header("idempotency-replayed"), "", "{method} {path}");
            let revision = app.list("t").await["revision"].clone();
            let again = keyed.send(method, path, body.as_deref()).await;
            is_replayed(&again, first.status);
            assert_eq!((&again.text, again.header("etag")), (&first.text, first.header("etag")), "{method} {path}");
            assert_eq!(app.list("t").await["revision"], revision, "{method} {path}");
        }
    }

    async fn a_key_belongs_to_one_resource_thread_actor_and_operation(database: TestDatabase) {
        let app = App::on(&database).await.header("idempotency-key", "k");
        let create = json!({"content": "A task"});
        let calls = [
            app.post(CREATE, &create).await,
            app.post("/threads/u/tasks", &create).await,
            app.header("x-resource-id", "other").post(CREATE, &create).await,
            app.header("x-actor", "somebody").post(CREATE, &create).await,
        ];
        for call in &calls {
            call.with_status(StatusCode::CREATED);
            assert_eq!(call.header("idempotency-replayed"), "");
        }
        app.done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
        assert_eq!(app.ids("t").await, ["1", "2", "3"]);
    }

    async fn a_refusal_is_not_kept_and_a_call_without_effect_is(database: TestDatabase) {
        let app = App::on(&database).await;
        let keyed = app.header("idempotency-key", "k");
        let complete = json!({"id": "1"});
        assert_eq!(keyed.tool("t", "task_complete", &complete).await["isError"], true);
        app.post(CREATE, &json!({"content": "A task", "status": "completed"})).await.with_status(StatusCode::CREATED);
        let first = keyed.done("t", "task_complete", &complete).await;
        assert!(first["content"].as_str().unwrap().contains("already"), "{first}");
        app.done("t", "task_update", &json!({"id": "1", "status": "pending"})).await;
        let again = keyed.post("/threads/t/tools/task_complete", &complete).await;
        is_replayed(&again, StatusCode::OK);
        assert_eq!(again.json(), first);
        assert_eq!(app.list("t").await["tasks"][0]["status"], "pending");
    }

    async fn a_key_comes_before_a_condition_and_outlives_its_thread(database: TestDatabase) {
        let app = App::on(&database).await;
        let keyed = app.header("idempotency-key", "k").header("if-none-match", "*");
        let write = json!({"tasks": [{"content": "A", "status": "pending", "activeForm": "Doing A"}]});
        let first = keyed.put("/threads/t/tasks", &write).await;
        first.ok();
        // The condition would fail by now.
        let again = keyed.put("/threads/t/tasks", &write).await;
        is_replayed(&again, StatusCode::OK);
        assert_eq!(app.delete("/threads/t").await.status, StatusCode::NO_CONTENT);
        let late = keyed.put("/threads/t/tasks", &write).await;
        is_replayed(&late, StatusCode::OK);
        assert_eq!((&again.text, &late.text), (&first.text, &first.text));
        assert!(app.ids("t").await.is_empty());
    }

    async fn what_is_no_key_is_refused_and_nothing_is_done(database: TestDatabase) {
        let app = App::on(&database).await;
        for key in ["k".repeat(256), "k\u{e9}y".to_owned()] {
            let refused = app.header("idempotency-key", &key).post(CREATE, &json!({"content": "A task"})).await;
            assert_eq!(refused.with_status(StatusCode::BAD_REQUEST)["code"], "invalid_header");
        }
        assert!(app.ids("t").await.is_empty());
    }
}

#[track_caller]
fn is_replayed(answer: &Answer, status: StatusCode) {
    assert_eq!((answer.status, answer.header("idempotency-replayed")), (status, "true"), "{}", answer.text);
}
