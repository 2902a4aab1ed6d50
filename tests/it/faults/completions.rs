//! Many callers complete tasks of one list at once, and tasks stay when all are completed.

use std::sync::Arc;

use serde_json::{Value, json};
use tasklane::http::state::Draining;
use tasklane::server;

use crate::support::app::{self, App, texts};
use crate::support::clock::TestClock;
use crate::support::process::Server;
use crate::support::wait::at_once;

const ROUNDS: usize = 5;
const TASKS: usize = 50;
const CALLERS: usize = 16;

both_databases! {
    async fn completions_by_many_callers_of_one_process_are_all_kept(database: TestDatabase) {
        complete_all(&[App::on(&database).await]).await;
    }

    async fn completions_by_many_callers_of_two_processes_are_all_kept(database: TestDatabase) {
        let servers: [Server; 2] = Server::start_several(&database).await;
        complete_all(&servers.each_ref().map(Server::app)).await;
    }

    async fn tasks_that_are_all_completed_are_still_there_half_a_year_later(database: TestDatabase) {
        let app = App::on(&database).await;
        app.done("t", "task_write", &open_tasks(3)).await;
        for id in app.ids("t").await {
            app.done("t", "task_complete", &json!({"id": id})).await;
        }
        let then = app.list("t").await;
        assert_eq!(then["summary"]["allCompleted"], true);

        let settings = app::settings(&[]);
        let later = app::lists(&database, &settings, Arc::new(TestClock::days_ahead(183))).await;
        later.forget_old().await.unwrap();
        let app = App::of(server::app(&settings, later, Draining::default()));
        assert_eq!(app.list("t").await, then);
        assert_eq!(app.done("t", "TaskList", &json!({})).await["tasks"].as_array().unwrap().len(), 3);
    }
}

fn open_tasks(count: usize) -> Value {
    let task = |number| json!({"content": format!("Task {number}"), "status": "pending", "activeForm": "Doing it"});
    json!({"tasks": (1..=count).map(task).collect::<Vec<Value>>()})
}

/// The callers take turns with the services.
async fn complete_all(apps: &[App]) {
    for round in 1..=ROUNDS {
        let thread = format!("round {round}");
        let written = apps[0].done(&thread, "task_write", &open_tasks(TASKS)).await;
        let apps: Arc<[App]> = apps.into();
        at_once(CALLERS, texts(&written["tasks"], "id"), {
            let (apps, thread) = (Arc::clone(&apps), thread.clone());
            move |caller, id: String| {
                let (app, thread) = (apps[caller % apps.len()].clone(), thread.clone());
                async move {
                    let result = app.done(&thread, "task_complete", &json!({"id": id})).await;
                    let own =
                        result["tasks"].as_array().unwrap().iter().find(|task| task["id"] == id.as_str()).cloned();
                    assert_eq!(own.unwrap()["status"], "completed", "the answer does not show what it acknowledges");
                }
            }
        })
        .await;
        for app in &*apps {
            let list = app.list(&thread).await;
            assert_eq!(list["summary"]["completed"], TASKS, "{thread}");
            assert_eq!(list["revision"], 1 + TASKS, "each completion is a change");
        }
    }
}
