//! The program as a process: killed under load, asked to end, started several times at once.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::app::{App, HungUp};
use crate::support::process::Server;
use crate::support::wait::until;

const KILLS: usize = 10;
const WRITERS: usize = 16;
/// Several writers share a list.
const LISTS: usize = 4;
const IN_FLIGHT_MIN: usize = 8;
const ACKNOWLEDGED_MIN: usize = 48;

both_databases! {
    async fn whatever_was_acknowledged_survives_kills_under_load_ten_times_in_a_row(database: TestDatabase) {
        let mut written = Written::default();
        for kill in 1..=KILLS {
            let server = Server::start(&database).await;
            written.check(&server.app()).await;
            let load = Load::start(server.address(), kill);
            until("the service is under load", || std::future::ready(load.is_high().then_some(()))).await;
            server.kill();
            written.extend(load.ended().await);
        }
        let server = Server::start(&database).await;
        written.check(&server.app()).await;
        assert!(written.0.len() >= KILLS * ACKNOWLEDGED_MIN / 2);
    }

    async fn a_process_that_is_asked_to_end_says_so_finishes_and_loses_nothing(database: TestDatabase) {
        let server = Server::with(&database, &["--shutdown-delay-seconds", "2"]).await;
        let app = server.app();
        app.done("t", "TaskCreate", &json!({"subject": "Before", "description": ""})).await;
        app.get("/readyz").await.ok();
        let block = database.block_writes().await;
        let open = tokio::spawn({
            let app = server.app();
            async move { app.done("t", "TaskCreate", &json!({"subject": "Open", "description": ""})).await }
        });
        server.terminate();
        let problem = until("the process says that it is about to end", || async {
            let answer = app.get("/readyz").await;
            (answer.status == StatusCode::SERVICE_UNAVAILABLE).then(|| answer.json())
        })
        .await;
        assert_eq!(problem["code"], "draining");
        block.lift().await;
        assert_eq!(open.await.unwrap()["task"]["id"], "2");
        let list = app.list("t").await;
        assert!(server.ended().await.success());
        assert!(matches!(app.try_send("GET", "/livez", None).await, Err(HungUp)));

        assert_eq!(Server::start(&database).await.app().list("t").await, list);
    }

    async fn several_processes_that_start_at_once_on_an_empty_database_are_one_service(database: TestDatabase) {
        let servers: [Server; 4] = Server::start_several(&database).await;
        for server in &servers {
            server.app().done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
        }
        for server in &servers {
            assert_eq!(server.app().ids("t").await, ["1", "2", "3", "4"]);
        }
    }
}

/// What is known of each task that was acknowledged, by list and number.
#[derive(Debug, Default)]
struct Written(HashMap<(String, String), Known>);

#[derive(Debug)]
struct Known {
    content: String,
    completion: Completion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Completion {
    NeverAsked,
    /// It was asked for, and the process was killed before it answered.
    Unanswered,
    Acknowledged,
}

impl Written {
    fn extend(&mut self, more: Vec<((String, String), Known)>) {
        let count = self.0.len() + more.len();
        self.0.extend(more);
        assert_eq!(self.0.len(), count, "a number was given twice");
    }

    async fn check(&self, app: &App) {
        let mut lists: HashMap<&str, HashMap<String, Value>> = HashMap::new();
        for ((thread, id), known) in &self.0 {
            if !lists.contains_key(thread.as_str()) {
                lists.insert(thread, tasks(app, thread).await);
            }
            let task =
                lists[thread.as_str()].get(id).unwrap_or_else(|| panic!("{thread}: task {id} is lost, {known:?}"));
            assert_eq!(task["content"], known.content.as_str(), "{thread}: task {id} is another");
            match known.completion {
                Completion::NeverAsked => assert_eq!(task["status"], "pending", "{thread}: task {id}"),
                Completion::Unanswered => {}
                Completion::Acknowledged => assert_eq!(task["status"], "completed", "{thread}: task {id}"),
            }
        }
    }
}

async fn tasks(app: &App, thread: &str) -> HashMap<String, Value> {
    let list = app.list(thread).await;
    let tasks = list["tasks"].as_array().unwrap();
    tasks.iter().map(|task| (task["id"].as_str().unwrap().to_owned(), task.clone())).collect()
}

/// Writers that go on until the process is gone.
struct Load {
    writers: JoinSet<Vec<((String, String), Known)>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    in_flight: AtomicUsize,
    acknowledged: AtomicUsize,
}

impl Load {
    fn start(address: SocketAddr, kill: usize) -> Self {
        let (mut writers, counts) = (JoinSet::new(), Arc::new(Counts::default()));
        for number in 0..WRITERS {
            let thread = format!("kill-{kill}-list-{}", number % LISTS);
            let writer = Writer { app: App::at(address), thread, number, counts: Arc::clone(&counts) };
            writers.spawn(writer.write());
        }
        Self { writers, counts }
    }

    /// Tells whether enough was acknowledged, and enough is being asked for at this moment.
    fn is_high(&self) -> bool {
        self.counts.acknowledged.load(Ordering::SeqCst) >= ACKNOWLEDGED_MIN
            && self.counts.in_flight.load(Ordering::SeqCst) >= IN_FLIGHT_MIN
    }

    async fn ended(self) -> Vec<((String, String), Known)> {
        self.writers.join_all().await.into_iter().flatten().collect()
    }
}

struct Writer {
    app: App,
    thread: String,
    number: usize,
    counts: Arc<Counts>,
}

impl Writer {
    /// Creates a task and completes it, again and again, until there is no answer.
    async fn write(self) -> Vec<((String, String), Known)> {
        let mut written = Vec::new();
        for round in 1.. {
            let content = format!("Task {round} of writer {}", self.number);
            let body = json!({"content": content}).to_string();
            let Some(task) = self.ask(&format!("/threads/{}/tasks", self.thread), Some(&body)).await else { break };
            let id = task["id"].as_str().unwrap().to_owned();
            let path = format!("/threads/{}/tasks/{id}/complete", self.thread);
            // Every third one stays open.
            let completion = if round % 3 == 0 {
                Completion::NeverAsked
            } else if self.ask(&path, None).await.is_some() {
                Completion::Acknowledged
            } else {
                Completion::Unanswered
            };
            written.push(((self.thread.clone(), id), Known { content, completion }));
        }
        written
    }

    async fn ask(&self, path: &str, body: Option<&str>) -> Option<Value> {
        self.counts.in_flight.fetch_add(1, Ordering::SeqCst);
        let answer = self.app.try_send("POST", path, body).await;
        self.counts.in_flight.fetch_sub(1, Ordering::SeqCst);
        let answer = answer.ok()?;
        assert!(answer.status.is_success(), "{}", answer.text);
        self.counts.acknowledged.fetch_add(1, Ordering::SeqCst);
        Some(answer.json())
    }
}
