//! Claims over their routes: what they protect, from whom, and until when.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::app::{App, texts};
use crate::support::wait::until;

both_databases! {
    async fn a_claimed_task_obeys_its_holder_alone(database: TestDatabase) {
        let app = with_tasks(&database, &["A", "B"]).await;
        let claim = app.post("/threads/t/claim", &json!({"owner": "one", "leaseSeconds": 60})).await;
        let claimed = claim.ok();
        assert_eq!((&claimed["task"]["id"], &claimed["task"]["status"]), (&json!("1"), &json!("in_progress")));
        assert_eq!(claimed["task"]["lease"], json!({"owner": "one"}));
        let list = app.list("t").await;
        assert_eq!(claimed["task"], list["tasks"][0]);
        assert_eq!(claim.header("etag"), app.get("/threads/t/tasks").await.header("etag"));

        let other = app.header("x-lease-token", "1-0000000000000000");
        for (method, path, body) in [
            ("PATCH", "/threads/t/tasks/1", json!({"status": "pending"})),
            ("PATCH", "/threads/t/tasks/1", json!({"owner": null})),
            ("POST", "/threads/t/tasks/1/complete", Value::Null),
            ("DELETE", "/threads/t/tasks/1", Value::Null),
            ("POST", "/threads/t/tasks/1/claim", json!({"owner": "two"})),
            ("POST", "/threads/t/tasks/1/heartbeat", json!({})),
            ("POST", "/threads/t/tasks/1/release", json!({})),
        ] {
            let body = (!body.is_null()).then(|| body.to_string());
            for app in [&app, &other] {
                let refused = app.send(method, path, body.as_deref()).await.with_status(StatusCode::CONFLICT);
                assert_eq!(refused["code"], "task_held", "{method} {path}: {refused}");
                assert_eq!((&refused["holder"], &refused["expiresAt"]), (&json!("one"), &claimed["lease"]["expiresAt"]));
                assert!(refused["content"].as_str().unwrap().contains("task_release"), "{refused}");
                assert_eq!(refused["tasks"], list["tasks"]);
            }
        }
        // Whatever is neither status nor owner anybody may change.
        app.patch("/threads/t/tasks/1", &json!({"description": "A remark"})).await.ok();

        let holder = app.header("x-lease-token", claimed["lease"]["token"].as_str().unwrap());
        let before = app.list("t").await;
        let longer = holder.post("/threads/t/tasks/1/heartbeat", &json!({"leaseSeconds": 600})).await.ok();
        assert!(longer["lease"]["expiresAt"].as_str() > claimed["lease"]["expiresAt"].as_str());
        assert_eq!(longer["lease"]["token"], claimed["lease"]["token"]);
        assert_eq!(app.list("t").await, before);
        let again = app.post("/threads/t/tasks/1/claim", &json!({"owner": "one"})).await.ok();
        assert_eq!(again["lease"]["token"], claimed["lease"]["token"]);
        assert_eq!(app.list("t").await, before);

        let completed = holder.post("/threads/t/tasks/1/complete", &json!({})).await.ok();
        assert_eq!(completed["tasks"][0]["status"], "completed");
        assert!(completed["tasks"][0].get("lease").is_none());
        let over = app.post("/threads/t/tasks/1/claim", &json!({"owner": "two"})).await;
        assert_eq!(over.status, StatusCode::CONFLICT, "{}", over.text);
    }

    async fn a_claim_takes_the_first_task_that_is_ready_and_matches(database: TestDatabase) {
        let app = App::on(&database).await;
        for body in [
            json!({"content": "Done", "status": "completed"}),
            json!({"content": "Owned", "owner": "somebody"}),
            json!({"content": "Blocked"}),
            json!({"content": "Fast", "metadata": {"queue": "fast", "n": 1}}),
            json!({"content": "Slow", "metadata": {"queue": "slow", "n": 1.0}}),
        ] {
            app.post("/threads/t/tasks", &body).await.with_status(StatusCode::CREATED);
        }
        app.patch("/threads/t/tasks/3", &json!({"addBlockedBy": ["5"]})).await.ok();
        let claim = async |body: Value| app.post("/threads/t/claim", &body).await.ok();
        // 1 and 1.0 are two values.
        assert_eq!(claim(json!({"owner": "w", "metadata": {"n": 1.0}})).await["task"]["id"], "5");
        let none = claim(json!({"owner": "w", "metadata": {"queue": "slow"}})).await;
        assert!(none.get("task").is_none() && none["isError"] == false, "{none}");
        assert!(none["content"].as_str().unwrap().contains("1 waiting for other tasks"), "{none}");
        assert_eq!(claim(json!({"owner": "w"})).await["task"]["id"], "4");
        let blocked = app.post("/threads/t/tasks/3/claim", &json!({"owner": "w"})).await;
        assert_eq!(blocked.with_status(StatusCode::CONFLICT)["code"], "task_blocked");
        let unknown = app.post("/threads/t/tasks/9/claim", &json!({"owner": "w"})).await;
        assert_eq!(unknown.with_status(StatusCode::NOT_FOUND)["availableTaskIds"].as_array().unwrap().len(), 5);
        for seconds in [json!(0), json!(86_401), json!("60")] {
            let refused = app.post("/threads/t/claim", &json!({"owner": "w", "leaseSeconds": seconds})).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{seconds}");
        }
    }

    async fn a_lease_that_has_ended_is_a_change_to_whoever_looks_first(database: TestDatabase) {
        let app = with_tasks(&database, &["A"]).await;
        for look in ["list", "task", "condition", "history", "signal", "wait", "tool", "write"] {
            app.done("t", "task_claim", &json!({"owner": "one", "lease_seconds": 1})).await;
            let held = app.get("/threads/t/tasks").await;
            let revision = held.ok()["revision"].as_i64().unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
            let seen = match look {
                "list" => app.list("t").await["revision"].clone(),
                "task" => app.get("/threads/t/tasks/1").await.ok()["revision"].clone(),
                "condition" => {
                    app.header("if-none-match", held.header("etag")).get("/threads/t/tasks").await.ok()["revision"].clone()
                }
                "history" => app.get("/threads/t/history").await.ok()["revision"].clone(),
                "signal" => app.get("/threads/t/signal").await.ok()["revision"].clone(),
                "wait" => app.tool("t", "task_wait", &json!({"after": revision, "timeout_seconds": 5})).await["revision"].clone(),
                "tool" => {
                    let text = app.done("t", "task_check", &json!({})).await["content"].to_string();
                    assert!(text.contains("pending"), "{text}");
                    json!(revision + 1)
                }
                _ => {
                    // The write comes after the expiry: two changes.
                    app.patch("/threads/t/tasks/1", &json!({"description": look})).await.ok()["revision"].clone()
                }
            };
            assert_eq!(seen, revision + 1 + i64::from(look == "write"), "{look}");
            let history = app.get(&format!("/threads/t/history?after={revision}")).await.ok();
            let change = &history["changes"][0];
            assert_eq!((&change["operation"], &change["actor"]), (&json!("lease_expire"), &json!("tasklane")), "{look}");
            let task = app.get("/threads/t/tasks/1").await.ok();
            assert_eq!((&task["status"], &task["owner"]), (&json!("pending"), &Value::Null), "{look}");
        }
    }

    async fn a_write_leaves_claimed_tasks_as_they_are_and_clearing_ends_their_claims(database: TestDatabase) {
        let app = with_tasks(&database, &["A", "B", "C"]).await;
        for id in ["1", "2"] {
            app.post(&format!("/threads/t/tasks/{id}/claim"), &json!({"owner": "one"})).await.ok();
        }
        let held = app.list("t").await["tasks"].clone();
        let written = app.put("/threads/t/tasks", &json!({"tasks": [
            {"id": "new", "content": "New", "status": "in_progress", "activeForm": "Doing"},
            {"id": "1", "content": "A, changed", "status": "completed", "activeForm": "Doing"},
        ]})).await.ok();
        assert_eq!(texts(&written["tasks"], "id"), ["new", "1", "2"]);
        assert_eq!((&written["tasks"][1], &written["tasks"][2]), (&held[0], &held[1]));
        let content = written["content"].as_str().unwrap();
        assert!(content.contains("one"), "{content}");
        assert_eq!(written["removed"], json!(["3"]));

        app.delete("/threads/t/tasks").await.ok();
        assert!(app.ids("t").await.is_empty());
        app.post("/threads/t/restore", &json!({"revision": written["revision"]})).await.ok();
        let restored = app.list("t").await;
        assert_eq!(texts(&restored["tasks"], "id"), ["new", "1", "2"]);
        assert!(restored["tasks"].as_array().unwrap().iter().all(|task| task.get("lease").is_none()), "{restored}");
    }

    async fn whoever_holds_nothing_may_free_a_dead_holders_task_by_force(database: TestDatabase) {
        let app = with_tasks(&database, &["A"]).await;
        let dead = app.post("/threads/t/claim", &json!({"owner": "dead"})).await.ok();
        let freed = app.post("/threads/t/tasks/1/release", &json!({"force": true})).await.ok();
        assert_eq!((&freed["task"]["status"], &freed["task"]["owner"]), (&json!("pending"), &Value::Null));
        let next = app.post("/threads/t/claim", &json!({"owner": "alive"})).await.ok();
        assert_ne!(next["lease"]["token"], dead["lease"]["token"]);
        let late = app.header("x-lease-token", dead["lease"]["token"].as_str().unwrap());
        let refused = late.post("/threads/t/tasks/1/complete", &json!({})).await;
        assert_eq!(refused.with_status(StatusCode::CONFLICT)["holder"], "alive");
        let given_back = json!({"leaseToken": next["lease"]["token"]});
        app.post("/threads/t/tasks/1/release", &given_back).await.ok();
        // Nobody holds it: there is nothing to give back.
        let nothing = app.post("/threads/t/tasks/1/release", &given_back).await;
        assert_eq!(nothing.status, StatusCode::CONFLICT, "{}", nothing.text);
        until("another may have it", async || {
            (app.post("/threads/t/claim", &json!({"owner": "third"})).await.ok()["task"]["owner"] == "third").then_some(())
        })
        .await;
    }
}

async fn with_tasks(database: &crate::support::database::TestDatabase, contents: &[&str]) -> App {
    let app = App::on(database).await;
    for content in contents {
        app.post("/threads/t/tasks", &json!({"content": content})).await.with_status(StatusCode::CREATED);
    }
    app
}
