//! Time grows with a list, not with its square.

use serde_json::{Value, json};

use crate::support::database::TestDatabase;
use crate::support::process::Server;

/// How often each is done: what is measured in hundredths of a second must take a while.
const RUNS: usize = 4;
const FEW: usize = 500;
const FACTOR: usize = 10;
/// The most times that ten times the tasks may take: ten, and something for what grows a little faster than they do.
const RATIO_MAX: u64 = 12;

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
    let server = Server::with(database, &["--tasks-max", "5000", "--request-timeout-seconds", "120"]).await;
    let app = server.app();
    let (few, many) = (body(FEW, &content), body(FEW * FACTOR, &content));
    let write = async |name: &str, body: &str| {
        let begun = server.computed();
        for run in 1..=RUNS {
            app.send("PUT", &format!("/threads/{name}-{run}/tasks"), Some(body)).await.ok();
        }
        server.computed() - begun
    };
    // What is done once and for all is not to be counted.
    app.send("PUT", "/threads/first/tasks", Some(&few)).await.ok();
    let (took_few, took_many) = (write("few", &few).await, write("many", &many).await);
    assert!(took_many <= took_few * RATIO_MAX, "500 take {took_few}, 5,000 take {took_many}");
}

fn body(count: usize, content: &impl Fn(usize) -> String) -> String {
    let task = |number| json!({"content": content(number), "status": "pending", "activeForm": "Fixing"});
    json!({"tasks": (0..count).map(task).collect::<Vec<Value>>()}).to_string()
}
