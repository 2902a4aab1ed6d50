//! A database that cannot answer is an outage, never a list without tasks; and when it is back, so is the service.

use axum::http::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::support::app::{Answer, App};
use crate::support::database::{TestDatabase, on_postgres};
use crate::support::proxy::Proxy;
use crate::support::wait::until;

const IMPATIENT: [&str; 2] = ["--request-timeout-seconds", "1"];

both_databases! {
    async fn a_table_that_is_gone_is_an_outage_until_it_is_back(database: TestDatabase) {
        let app = App::on(&database).await;
        let before = written(&app).await;
        let answers = reads(&app).await;
        for table in ["thread", "task", "change"] {
            database.execute(&format!("alter table {table} rename to dropped")).await;
            // What is remembered may be answered as long as the database confirms it, but nothing else.
            for (answer, told_before) in reads(&app).await.iter().zip(&answers) {
                let is_same = answer.status == StatusCode::OK && answer.text == told_before.text;
                assert!(is_same || is_outage(answer), "{table}: {}", answer.text);
            }
            if table == "thread" {
                reads_fail(&app).await;
            }
            if table != "change" {
                // Who remembers nothing has nothing to answer.
                reads_fail(&App::on(&database).await).await;
            }
            writes_fail(&app).await;
            database.execute(&format!("alter table dropped rename to {table}")).await;
            assert_eq!(app.list("t").await, before, "{table}");
        }
        is_well(&app).await;
    }

    async fn writes_that_the_database_does_not_let_through_are_an_outage(database: TestDatabase) {
        let app = App::with(&database, &IMPATIENT).await;
        let before = written(&app).await;
        let block = database.block_writes().await;
        writes_fail(&app).await;
        assert_eq!(app.list("t").await, before);
        block.lift().await;
        is_well(&app).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_stops_answering_is_an_outage_until_it_answers() {
    on_postgres(async |database: TestDatabase| {
        let app = App::with(&database, &IMPATIENT).await;
        let before = written(&app).await;
        let mut lock = PgConnection::connect(database.url()).await.unwrap();
        lock.execute("begin; lock table thread, task in access exclusive mode").await.unwrap();
        reads_fail(&app).await;
        writes_fail(&app).await;
        lock.execute("rollback").await.unwrap();
        comes_back(&app, &before).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_is_down_is_an_outage_until_it_is_up() {
    on_postgres(async |database: TestDatabase| {
        let proxy = Proxy::to(database.url()).await;
        let app = App::with(&database.behind(&proxy), &IMPATIENT).await;
        let before = written(&app).await;
        proxy.set_up(false);
        reads_fail(&app).await;
        writes_fail(&app).await;
        assert_eq!(app.get("/readyz").await.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(app.get("/livez").await.status, StatusCode::OK);
        proxy.set_up(true);
        comes_back(&app, &before).await;
        assert_eq!(app.get("/readyz").await.status, StatusCode::OK);
    })
    .await;
}

async fn written(app: &App) -> Value {
    app.done("t", "TaskCreate", &json!({"subject": "A task", "description": ""})).await;
    app.list("t").await
}

/// Asks for all that can be read.
async fn reads(app: &App) -> Vec<Answer> {
    let mut answers = Vec::new();
    for (method, path, body) in [
        ("GET", "/threads/t/tasks", None),
        ("GET", "/threads/t/tasks/1", None),
        ("GET", "/threads/t", None),
        ("POST", "/threads/t/tools/task_check", Some("{}")),
        ("POST", "/threads/t/tools/TaskList", Some("{}")),
        ("POST", "/threads/t/tools/TaskGet", Some(r#"{"task_id":"1"}"#)),
        // One whose arguments are refused shows the list as well.
        ("POST", "/threads/t/tools/task_write", Some(r#"{"tasks":7}"#)),
    ] {
        answers.push(app.send(method, path, body).await);
    }
    answers
}

async fn reads_fail(app: &App) {
    for answer in reads(app).await {
        assert!(is_outage(&answer), "{}", answer.text);
    }
    assert!(is_outage(&app.send("POST", "/threads/t/tools/task_history", Some("{}")).await));
}

async fn writes_fail(app: &App) {
    for (method, path, body) in [
        ("PATCH", "/threads/t/tasks/1", r#"{"metadata":{"k":1}}"#),
        ("POST", "/threads/t/tools/TaskUpdate", r#"{"task_id":"1","metadata":{"k":1}}"#),
    ] {
        let answer = app.send(method, path, Some(body)).await;
        assert!(is_outage(&answer), "{}", answer.text);
    }
}

/// Tells whether the answer says that the database does not answer, shows no list, and says when to come again.
fn is_outage(answer: &Answer) -> bool {
    answer.status == StatusCode::SERVICE_UNAVAILABLE
        && answer.json()["isError"] == true
        && answer.json()["tasks"] == Value::Null
        && !answer.header("retry-after").is_empty()
}

async fn comes_back(app: &App, before: &Value) {
    let list = until("the database answers again", || async {
        let answer = app.get("/threads/t/tasks").await;
        (answer.status == StatusCode::OK).then(|| answer.ok())
    })
    .await;
    assert_eq!(texts_of(&list), texts_of(before));
    is_well(app).await;
}

/// What of the list no write of the outage can have changed: one that was given up may have happened since.
fn texts_of(list: &Value) -> Vec<&Value> {
    list["tasks"].as_array().unwrap().iter().map(|task| &task["content"]).collect()
}

async fn is_well(app: &App) {
    let count = app.ids("t").await.len();
    app.done("t", "TaskCreate", &json!({"subject": "Another", "description": ""})).await;
    assert_eq!(app.ids("t").await.len(), count + 1);
}
