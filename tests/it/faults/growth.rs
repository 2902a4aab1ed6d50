//! Time grows with a list, not with its square.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::app::App;

/// How often each is measured: the shortest time is the one that nothing else disturbed.
const RUNS: usize = 5;
/// The most times that ten times the tasks may take: ten, and something for what grows a little faster than they do.
const RATIO_MAX: u32 = 12;

both_databases! {
    async fn ids_for_ten_times_as_many_equal_contents_take_at_most_twelve_times_as_long(database: TestDatabase) {
        let app = App::with(&database, &["--tasks-max", "5000", "--request-timeout-seconds", "120"]).await;
        let (few, many) = (alike(500), alike(5_000));
        let (mut took_few, mut took_many) = (Duration::MAX, Duration::MAX);
        for run in 1..=RUNS {
            took_few = took_few.min(write(&app, &format!("few-{run}"), &few).await);
            took_many = took_many.min(write(&app, &format!("many-{run}"), &many).await);
        }
        assert!(took_many <= took_few * RATIO_MAX, "500 take {took_few:?}, 5,000 take {took_many:?}");
    }
}

/// A body of tasks whose contents differ but make the same id.
fn alike(count: usize) -> Value {
    let task = |number: usize| json!({"content": format!("Fix it{}", "!".repeat(number % 50)), "status": "pending", "activeForm": "Fixing"});
    json!({"tasks": (0..count).map(task).collect::<Vec<Value>>()})
}

async fn write(app: &App, thread: &str, body: &Value) -> Duration {
    let (path, body) = (format!("/threads/{thread}/tasks"), body.to_string());
    let begun = Instant::now();
    let written = app.send("PUT", &path, Some(&body)).await;
    let took = begun.elapsed();
    written.ok();
    took
}
