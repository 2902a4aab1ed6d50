//! Workers share a list without doing a task twice, and one that comes back late cannot undo another's work.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::app::App;
use crate::support::process::Server;
use crate::support::wait::{at_once, until};

const ROUNDS: usize = 40;
const WORKERS: usize = 16;

both_databases! {
    async fn no_two_workers_of_two_processes_ever_claim_the_same_task(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        let apps = servers.each_ref().map(Server::app);
        let mut claims = HashSet::new();
        for round in 1..=ROUNDS {
            let thread = format!("round {round}");
            let task = |number| json!({"content": format!("Task {number}"), "status": "pending", "activeForm": "Doing"});
            let tasks: Vec<Value> = (1..=WORKERS).map(task).collect();
            apps[0].done(&thread, "task_write", &json!({"tasks": tasks})).await;
            let claimed = at_once(WORKERS, 1..=WORKERS, {
                let (apps, thread) = (apps.clone(), thread.clone());
                move |caller, worker| {
                    let (app, thread) = (apps[caller % 2].clone(), thread.clone());
                    async move {
                        let claim = app.done(&thread, "task_claim", &json!({"owner": format!("w{worker}")})).await;
                        assert_eq!(claim["task"]["owner"], format!("w{worker}"));
                        (thread, claim["task"]["id"].as_str().unwrap().to_owned())
                    }
                }
            })
            .await;
            claims.extend(claimed);
            let late = apps[1].done(&thread, "task_claim", &json!({"owner": "late"})).await;
            assert_eq!(late["task"], Value::Null, "{late}");
        }
        assert_eq!(claims.len(), ROUNDS * WORKERS);
    }

    async fn a_worker_whose_lease_has_ended_cannot_complete_what_another_has_claimed(database: TestDatabase) {
        let app = App::on(&database).await;
        app.done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
        let first = app.done("t", "task_claim", &json!({"owner": "first", "lease_seconds": 1})).await;
        let second = until("the first lease ends", async || {
            let claim = app.tool("t", "task_claim", &json!({"owner": "second", "id": "1"})).await;
            (claim["isError"] == false).then_some(claim)
        })
        .await;

        let before = app.list("t").await;
        for (tool, mut arguments) in [
            ("task_complete", json!({"id": "1"})),
            ("task_update", json!({"id": "1", "status": "completed"})),
            ("TaskUpdate", json!({"task_id": "1", "status": "completed"})),
            ("TaskUpdate", json!({"task_id": "1", "status": "deleted"})),
            ("task_release", json!({"id": "1"})),
            ("task_heartbeat", json!({"id": "1"})),
        ] {
            arguments["lease_token"] = first["lease"]["token"].clone();
            let refused = app.tool("t", tool, &arguments).await;
            assert_eq!(refused["isError"], true, "{tool}: {refused}");
            assert!(refused["content"].as_str().unwrap().contains("second"), "{tool}: {refused}");
            assert_eq!(app.list("t").await, before, "{tool}");
        }
        let token = &second["lease"]["token"];
        app.done("t", "task_complete", &json!({"id": "1", "lease_token": token})).await;
        assert_eq!(app.list("t").await["tasks"][0]["status"], "completed");
    }
}
