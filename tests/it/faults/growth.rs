//! Time grows with a list, not with its square.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::app::App;
use crate::support::database::TestDatabase;

/// How often each is measured: the shortest time is the one that nothing else disturbed.
const RUNS: usize = 3;
/// The most times that ten times the tasks may take: ten, and something for what grows a little faster than they do.
const RATIO_MAX: u32 = 12;

both_databases! {
    async fn ids_for_equal_contents_take_time_in_proportion(database: TestDatabase) {
        grows_in_proportion(&database, |_| "Fix it!".to_owned()).await;
    }

    async fn ids_for_different_contents_that_make_the_same_id_take_time_in_proportion(database: TestDatabase) {
        // Signs are no part of an id: `Fix it!?!`.
        let signs = |number: usize| format!("{number:013b}").replace('0', "!").replace('1', "?");
        grows_in_proportion(&database, move |number| format!("Fix it{}", signs(number))).await;
    }
}

async fn grows_in_proportion(database: &TestDatabase, content: impl Fn(usize) -> String) {
    let flags = ["--tasks-max", "5000", "--request-timeout-seconds", "120"];
    let app = App::with(database, &flags).await;
    let (few, many) = (body(500, &content), body(5_000, &content));
    let (mut took_few, mut took_many) = (Duration::MAX, Duration::MAX);
    for run in 1..=RUNS {
        took_few = took_few.min(write(&app, &format!("few-{run}"), &few).await);
        took_many = took_many.min(write(&app, &format!("many-{run}"), &many).await);
    }
    assert!(took_many <= took_few * RATIO_MAX, "500 take {took_few:?}, 5,000 take {took_many:?}");
}

fn body(count: usize, content: &impl Fn(usize) -> String) -> String {
    let task = |number| json!({"content": content(number), "status": "pending", "activeForm": "Fixing"});
    json!({"tasks": (0..count).map(task).collect::<Vec<Value>>()}).to_string()
}

async fn write(app: &App, thread: &str, body: &str) -> Duration {
    let path = format!("/threads/{thread}/tasks");
    let begun = Instant::now();
    let written = app.send("PUT", &path, Some(body)).await;
    let took = begun.elapsed();
    written.ok();
    took
}
