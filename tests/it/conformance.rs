//! What was recorded from the originals, through HTTP tool calls and, for Mastra's, through the REST routes.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::app::{Answer, App, segment};
use crate::support::conformance::{Recording, ToolEdge};

/// Tool calls over HTTP.
struct Tools(App);

impl ToolEdge for Tools {
    async fn call(&self, thread: &str, tool: &str, arguments: &str) -> Value {
        self.0.tool_as_sent(thread, tool, arguments).await
    }

    async fn tasks(&self, thread: &str) -> Vec<Value> {
        tasks(&self.0, thread).await
    }
}

async fn tasks(app: &App, thread: &str) -> Vec<Value> {
    let answer = app.get(&format!("/threads/{}/tasks", segment(thread))).await;
    let list = answer.ok();
    // So that what is compared as values is equal in spelling too: what was recorded is spelled as serde spells it.
    assert_eq!(list.to_string(), answer.text);
    list["tasks"].as_array().expect("tasks").clone()
}

both_databases! {
    async fn every_recorded_mastra_case_holds_for_tool_calls(database: TestDatabase) {
        Recording::Mastra.replay(&Tools(App::on(&database).await)).await;
    }

    async fn every_recorded_agentscope_case_holds_for_tool_calls(database: TestDatabase) {
        Recording::AgentScope.replay(&Tools(App::on(&database).await)).await;
    }

    async fn every_recorded_mastra_case_holds_for_rest(database: TestDatabase) {
        let rest = Rest { app: App::on(&database).await, answered: AtomicUsize::new(0) };
        Recording::Mastra.replay(&rest).await;
        assert!(rest.answered.load(Ordering::Relaxed) > 1_000, "hardly anything went through the routes");
    }
}

/// The REST routes of Mastra's operations. What only tool calls may send is refused there; then it goes as a tool call, so
/// that the rest of its case can follow.
struct Rest {
    app: App,
    /// How many calls the routes have answered themselves.
    answered: AtomicUsize,
}

impl ToolEdge for Rest {
    async fn call(&self, thread: &str, tool: &str, arguments: &str) -> Value {
        let Some((method, path, body)) = request(thread, tool, arguments) else {
            return self.app.tool_as_sent(thread, tool, arguments).await;
        };
        if is_strict(tool, arguments) {
            self.answered.fetch_add(1, Ordering::Relaxed);
            return as_tools_answer(&self.app.send(method, &path, body.as_deref()).await);
        }
        let before = tasks(&self.app, thread).await;
        let answer = self.app.send(method, &path, body.as_deref()).await;
        assert!(answer.status.is_client_error(), "{method} {path} takes {body:?}");
        assert_eq!(tasks(&self.app, thread).await, before, "a refusal changed the list");
        self.app.tool_as_sent(thread, tool, arguments).await
    }

    async fn tasks(&self, thread: &str) -> Vec<Value> {
        tasks(&self.app, thread).await
    }
}

/// Returns method, path and body of the route that does what the tool does; nothing where the call names no task.
fn request(thread: &str, tool: &str, arguments: &str) -> Option<(&'static str, String, Option<String>)> {
    let list = format!("/threads/{}/tasks", segment(thread));
    let arguments: Value = serde_json::from_str(arguments).expect("JSON");
    if tool == "task_write" {
        return Some(("PUT", list, Some(arguments.to_string())));
    }
    if tool == "task_check" {
        return Some(("GET", list, None));
    }
    let mut body = arguments.as_object()?.clone();
    let task = format!("{list}/{}", segment(body.shift_remove("id")?.as_str().filter(|id| !id.is_empty())?));
    match tool {
        "task_update" => Some(("PATCH", task, Some(Value::from(body).to_string()))),
        "task_complete" => Some(("POST", format!("{task}/complete"), None)),
        other => panic!("{other} is no tool of Mastra's"),
    }
}

/// Tells whether a route takes the arguments as they are, be it to refuse what they say.
fn is_strict(tool: &str, arguments: &str) -> bool {
    let arguments: Value = serde_json::from_str(arguments).expect("JSON");
    let has_only_texts = |object: &Value, keys: &[&str]| {
        object.as_object().is_some_and(|members| {
            members.iter().all(|(key, value)| keys.contains(&key.as_str()) && value.as_str().is_some())
        })
    };
    match tool {
        "task_check" => true,
        "task_complete" => has_only_texts(&arguments, &["id"]),
        "task_update" => has_only_texts(&arguments, &KEYS),
        _ => {
            let is_lone = arguments.as_object().is_some_and(|members| members.len() == 1);
            let is_list = |tasks: &Vec<Value>| tasks.iter().all(|task| has_only_texts(task, &KEYS));
            is_lone && arguments["tasks"].as_array().is_some_and(is_list)
        }
    }
}

/// What Mastra's tools show of a task.
const KEYS: [&str; 4] = ["id", "content", "status", "activeForm"];

/// Writes the answer of a route as a tool would: the same structure, and only what the tool shows of a task.
fn as_tools_answer(answer: &Answer) -> Value {
    let mut result = answer.json();
    assert_eq!(result["isError"], !answer.status.is_success(), "{}", answer.text);
    for tasks in ["tasks", "incompleteTasks"] {
        for task in result[tasks].as_array_mut().into_iter().flatten() {
            *task = KEYS.iter().map(|key| ((*key).to_owned(), task[key].clone())).collect();
        }
    }
    result
}
