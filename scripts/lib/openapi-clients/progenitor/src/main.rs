//! The client that progenitor generates from the tools document: typed calls and typed answers.

progenitor::generate_api!(spec = "openapi-tools.json", interface = Builder);

use futures_util::TryStreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Lets the generated type of a body read what a model would have written.
fn body<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the generated type takes the body")
}

/// Takes the status and the code of a problem out of a refusal. The generator has no types for problems, which are not
/// `application/json`, and hands over their bytes.
macro_rules! refusal {
    ($call:expr) => {
        match $call.send().await {
            Err(Error::ErrorResponse(answer)) => (answer.status().as_u16(), code(answer.into_inner()).await),
            Err(error) => panic!("this is no problem: {error}"),
            Ok(answer) => panic!("this was answered with {}", answer.status()),
        }
    };
}

async fn code(bytes: ByteStream) -> String {
    let chunks: Vec<_> = bytes.into_inner().try_collect().await.expect("the whole problem");
    let problem: Value = serde_json::from_slice(&chunks.concat()).expect("a problem as JSON");
    assert_eq!(problem["isError"], true, "{problem}");
    assert_ne!(problem["content"], "", "{problem}");
    problem["code"].as_str().expect("a code").to_owned()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).expect("the service's address");
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let client = Client::new_with_client(&url, http);
    let (here, there) = ("progenitor here", "progenitor there");

    let items = json!({"tasks": [
        {"content": "Read the code", "status": "in_progress", "activeForm": "Reading the code"},
        {"id": "fix", "content": "Fix the bug", "status": "pending", "activeForm": "Fixing the bug"},
    ]});
    let written =
        client.task_write().thread_id(here).body(body::<types::TaskWriteBody>(items)).send().await.expect("a list");
    let ids: Vec<&str> = written.tasks.iter().map(|task| &**task.id).collect();
    assert_eq!((ids, written.revision, written.is_error), (vec!["task_read_the_code", "fix"], 1, false));

    let other = json!({"tasks": [{"content": "Cook", "status": "pending", "activeForm": "Cooking"}]});
    client.task_write().thread_id(there).body(body::<types::TaskWriteBody>(other)).send().await.expect("a list");
    for (thread, expected) in [(here, vec!["Read the code", "Fix the bug"]), (there, vec!["Cook"])] {
        let seen = client.task_check().thread_id(thread).send().await.expect("a list");
        let contents: Vec<&str> = seen.tasks.iter().map(|task| &**task.content).collect();
        assert_eq!(contents, expected, "{thread}");
    }

    let draft = json!({"content": "Tell the users", "metadata": {"priority": 2}, "blockedBy": ["fix"]});
    let created =
        client.task_create().thread_id(here).body(body::<types::TaskCreateBody>(draft)).send().await.expect("a task");
    assert_eq!((created.status().as_u16(), &**created.id, &created.owner), (201, "1", &None));
    assert_eq!((created.metadata["priority"].clone(), &created.blocked_by), (json!(2), &vec!["fix".to_owned()]));

    let patch = json!({"owner": "researcher", "description": "In the changelog."});
    let patch = body::<types::TaskUpdateBody>(patch);
    let updated = client.task_update().thread_id(here).task_id("1").body(patch).send().await.expect("a list");
    assert_eq!(updated.tasks[2].owner.as_ref().map(|owner| &***owner), Some("researcher"));
    let got = client.task_get().thread_id(here).task_id("1").send().await.expect("a task");
    assert_eq!(got.description, "In the changelog.");

    let owned = client.task_check().thread_id(here).owner("researcher").send().await.expect("a list");
    assert_eq!(owned.tasks.len(), 1);
    let pending = types::TaskCheckStatus::Pending;
    let ready = client.task_check().thread_id(here).status(pending).ready(true).send().await.expect("a list");
    assert_eq!(ready.tasks.iter().map(|task| &**task.id).collect::<Vec<&str>>(), ["fix"]);

    client.task_complete().thread_id(here).task_id("fix").send().await.expect("a list");
    let summary = client.task_check().thread_id(here).send().await.expect("a list").into_inner().summary;
    assert_eq!((summary.total, summary.completed, summary.all_completed), (3, 1, false));

    let unknown = refusal!(client.task_complete().thread_id(here).task_id("nowhere"));
    assert_eq!(unknown, (404, "unknown_task".to_owned()));
    let both = json!({"tasks": [
        {"content": "Read the code", "status": "in_progress", "activeForm": "Reading the code"},
        {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"},
    ]});
    let both = refusal!(client.task_write().thread_id(here).body(body::<types::TaskWriteBody>(both)));
    assert_eq!(both, (409, "several_in_progress".to_owned()));
    // The generated types hold to the lengths and statuses of the document, but not to the least number of fields.
    let empty =
        refusal!(client.task_update().thread_id(here).task_id("1").body(body::<types::TaskUpdateBody>(json!({}))));
    assert_eq!(empty, (422, "invalid_body".to_owned()));

    let deleted = client.task_delete().thread_id(here).task_id("1").send().await.expect("no answer");
    assert_eq!(deleted.status().as_u16(), 204);
    let gone = refusal!(client.task_get().thread_id(here).task_id("1"));
    assert_eq!(gone, (404, "unknown_task".to_owned()));
    let first = client.thread_list().limit(1).send().await.expect("a page").into_inner();
    assert_eq!(first.threads[0].thread_id, here);
    let cursor = first.next_cursor.expect("there is one more page");
    let second = client.thread_list().limit(1).cursor(cursor).send().await.expect("a page").into_inner();
    assert_eq!(second.threads[0].thread_id, there);

    let cleared = client.task_clear().thread_id(here).send().await.expect("a list");
    assert!(cleared.tasks.is_empty());
    let untouched = client.task_check().thread_id(there).send().await.expect("a list");
    assert_eq!(untouched.tasks.len(), 1);
}
