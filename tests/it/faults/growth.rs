//! Time grows with a list, not with its square.

use serde_json::{Value, json};

use crate::support::database::TestDatabase;
use crate::support::process::Server;

const FEW: usize = 500;
const FACTOR: usize = 10;
/// The most times that ten times the tasks may take: ten, and something for what grows a little faster than they do.
const RATIO_MAX: u64 = 12;
/// How often it is measured before the growth is believed: what else the machine does can only add to a time.
const ROUNDS_MAX: usize = 12;

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
    let write = async |name: String, body: &str, times: usize| {
        let begun = server.computed();
        for time in 0..times {
            app.send("PUT", &format!("/threads/{name}-{time}/tasks"), Some(body)).await.ok();
        }
        server.computed() - begun
    };
    // What is done once and for all is not to be counted.
    app.send("PUT", "/threads/first/tasks", Some(&few)).await.ok();
    let (mut least_few, mut least_many) = (u64::MAX, u64::MAX);
    for round in 0..ROUNDS_MAX {
        // Ten times, so that as many tasks are written as of the long list at once.
        least_few = least_few.min(write(format!("few-{round}"), &few, FACTOR).await);
        least_many = least_many.min(write(format!("many-{round}"), &many, 1).await);
        if least_many * FACTOR as u64 <= least_few * RATIO_MAX {
            return;
        }
    }
    panic!("ten times 500 take {least_few}, 5,000 take {least_many}");
}

fn body(count: usize, content: &impl Fn(usize) -> String) -> String {
    let task = |number| json!({"content": content(number), "status": "pending", "activeForm": "Fixing"});
    json!({"tasks": (0..count).map(task).collect::<Vec<Value>>()}).to_string()
}
