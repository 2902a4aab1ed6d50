//! One list in the hands of everybody: Mastra's tools, `AgentScope`'s and people with REST see and keep the same tasks.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::app::App;

both_databases! {
    async fn a_list_that_all_dialects_write_keeps_what_each_of_them_cannot_say(database: TestDatabase) {
        let app = App::on(&database).await;

        // An agent of Mastra's plans.
        app.done("t", "task_write", &json!({"tasks": [
            {"content": "Read the code", "status": "in_progress", "activeForm": "Reading the code"},
            {"content": "Fix the bug", "status": "pending", "activeForm": "Fixing the bug"},
        ]})).await;
        assert_eq!(agreed(&app).await, ["task_read_the_code", "task_fix_the_bug"]);

        // One of AgentScope's adds to the plan, and says what waits for what and who does it.
        let arguments = json!({"subject": "Ship it", "description": "To everybody.", "metadata": {"to": ["all"], "n": 1}});
        assert_eq!(app.done("t", "TaskCreate", &arguments).await["task"]["id"], "1");
        app.done("t", "TaskUpdate", &json!({"task_id": "1", "add_blocked_by": ["task_fix_the_bug"], "owner": "b"})).await;
        let update = json!({
            "task_id": "task_fix_the_bug", "add_blocked_by": ["task_read_the_code"], "owner": "a",
            "description": "It shows on Mondays.", "metadata": {"severity": "high"},
        });
        app.done("t", "TaskUpdate", &update).await;
        assert_eq!(agreed(&app).await, ["task_read_the_code", "task_fix_the_bug", "1"]);
        let linked = kept(&app).await;
        assert_eq!(
            linked,
            [
                json!(["task_read_the_code", "", null, {}, ["task_fix_the_bug"], []]),
                json!(["task_fix_the_bug", "It shows on Mondays.", "a", {"severity": "high"}, ["1"], ["task_read_the_code"]]),
                json!(["1", "To everybody.", "b", {"to": ["all"], "n": 1}, [], ["task_fix_the_bug"]]),
            ]
        );

        // The first one writes its plan anew: another order, other words, one task more. It knows nothing of the rest.
        app.done("t", "task_write", &json!({"tasks": [
            {"id": "1", "content": "Ship it today", "status": "pending", "activeForm": "Shipping it"},
            {"content": "Tell people", "status": "pending", "activeForm": "Telling people"},
            {"content": "Read the code", "status": "in_progress", "activeForm": "Reading the code"},
            {"id": "task_fix_the_bug", "content": "Fix the bug", "status": "pending", "activeForm": "Fixing the bug"},
        ]})).await;
        assert_eq!(agreed(&app).await, ["1", "task_tell_people", "task_read_the_code", "task_fix_the_bug"]);
        let rewritten = kept(&app).await;
        assert_eq!([&rewritten[2], &rewritten[3], &rewritten[0]], [&linked[0], &linked[1], &linked[2]]);

        // A person changes a word; the agents go on.
        app.patch("/threads/t/tasks/task_fix_the_bug", &json!({"content": "Fix the bug for good"})).await.ok();
        let completed = app.done("t", "task_complete", &json!({"id": "task_read_the_code"})).await;
        assert_eq!(completed["tasks"][2]["status"], "completed");
        agreed(&app).await;
        let after = kept(&app).await;
        assert_eq!(after[3], json!(["task_fix_the_bug", "It shows on Mondays.", "a", {"severity": "high"}, ["1"], []]));

        // What the next plan leaves out is gone, and so is whatever waited for it.
        let written = app.done("t", "task_write", &json!({"tasks": [
            {"id": "1", "content": "Ship it today", "status": "in_progress", "activeForm": "Shipping it"},
            {"content": "Tell people", "status": "pending", "activeForm": "Telling people"},
        ]})).await;
        let text = written["content"].as_str().unwrap();
        assert!(text.contains("task_fix_the_bug (description, owner, metadata, dependencies)"), "{text}");
        assert_eq!(agreed(&app).await, ["1", "task_tell_people"]);
        assert_eq!(kept(&app).await[0], json!(["1", "To everybody.", "b", {"to": ["all"], "n": 1}, [], []]));

        // The same words in a new task are another task, with nothing of the old one.
        let body = json!({"id": "task_fix_the_bug", "content": "Fix the bug for good"});
        app.post("/threads/t/tasks", &body).await.with_status(StatusCode::CREATED);
        assert_eq!(agreed(&app).await, ["1", "task_tell_people", "task_fix_the_bug"]);
        assert_eq!(kept(&app).await[2], json!(["task_fix_the_bug", "", null, {}, [], []]));
    }
}

/// Returns the ids of the list, on whose tasks REST, `task_check`, `TaskList` and `TaskGet` agree.
async fn agreed(app: &App) -> Vec<String> {
    let rest = app.list("t").await;
    let tasks = rest["tasks"].as_array().unwrap();
    let check = app.done("t", "task_check", &json!({})).await;
    assert_eq!(check["summary"], rest["summary"]);
    for (key, tasks) in [("tasks", tasks), ("incompleteTasks", rest["incompleteTasks"].as_array().unwrap())] {
        let in_mastras_words = |task: &Value| {
            pick(task, &[("id", "id"), ("content", "content"), ("status", "status"), ("activeForm", "activeForm")])
        };
        assert_eq!(check[key], tasks.iter().map(in_mastras_words).collect::<Value>());
    }
    let in_agentscopes_words: Vec<Value> = tasks
        .iter()
        .map(|task| {
            pick(
                task,
                &[
                    ("id", "id"),
                    ("subject", "content"),
                    ("description", "description"),
                    ("state", "status"),
                    ("owner", "owner"),
                    ("metadata", "metadata"),
                    ("blocks", "blocks"),
                    ("blocked_by", "blockedBy"),
                    ("created_at", "createdAt"),
                ],
            )
        })
        .collect();
    assert_eq!(app.done("t", "TaskList", &json!({})).await["tasks"], Value::from(in_agentscopes_words.clone()));
    for (task, expected) in tasks.iter().zip(&in_agentscopes_words) {
        assert_eq!(app.done("t", "TaskGet", &json!({"task_id": task["id"]})).await["task"], *expected);
        let path = format!("/threads/t/tasks/{}", task["id"].as_str().unwrap());
        assert_eq!(app.get(&path).await.ok(), *task);
    }
    app.ids("t").await
}

/// Returns an object with these members of another one, under other names.
fn pick(from: &Value, names: &[(&str, &str)]) -> Value {
    names.iter().map(|(to, name)| ((*to).to_owned(), from[*name].clone())).collect()
}

/// Returns of each task what Mastra's tools cannot say.
async fn kept(app: &App) -> Vec<Value> {
    let list = app.list("t").await;
    let kept = |task: &Value| {
        ["id", "description", "owner", "metadata", "blocks", "blockedBy"].iter().map(|key| task[*key].clone()).collect()
    };
    list["tasks"].as_array().unwrap().iter().map(kept).collect()
}
