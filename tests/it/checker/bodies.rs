//! Whether an answer's body is the list as it was at the answer's revision, in each dialect.

use serde_json::Value;

use super::call::{Answer, Call, Route};
use super::history::State;
use super::operation::Operation;

const MASTRA: [(&str, &str); 4] =
    [("id", "id"), ("content", "content"), ("status", "status"), ("activeForm", "activeForm")];
const AGENTSCOPE: [(&str, &str); 9] = [
    ("id", "id"),
    ("subject", "content"),
    ("description", "description"),
    ("state", "status"),
    ("owner", "owner"),
    ("metadata", "metadata"),
    ("blocks", "blocks"),
    ("blocked_by", "blockedBy"),
    ("created_at", "createdAt"),
];

/// Compares what an answer shows with a state.
pub(crate) fn check(call: &Call, answer: &Answer, state: &State) -> Result<(), String> {
    let body = &answer.body;
    if let Some(tasks) = body.get("tasks") {
        let tasks = tasks.as_array().cloned().unwrap_or_default();
        let is_equal = tasks.len() == state.len()
            && tasks.iter().zip(state).all(|(shown, task)| match call.route {
                // A problem has the form of REST, whatever it is about.
                _ if answer.status >= 400 => *shown == **task,
                Route::Rest | Route::Coordination => *shown == **task,
                Route::Mastra => reads_as(shown, task, &MASTRA),
                Route::AgentScope => reads_as(shown, task, &AGENTSCOPE),
            });
        if !is_equal {
            return Err(format!("it shows the tasks {}", body["tasks"]));
        }
    }
    if body["summary"].is_object() {
        check_summary(&body["summary"], state)?;
    }
    let is_task = call.route == Route::Rest && body.get("id").is_some();
    let shown = if is_task { Some(body) } else { body.get("task") };
    shown.map_or(Ok(()), |shown| check_task(call, shown, state))
}

fn check_task(call: &Call, shown: &Value, state: &State) -> Result<(), String> {
    let Some(task) = state.iter().find(|task| task["id"] == shown["id"]) else {
        return Err(format!("it shows a task that was not there: {shown}"));
    };
    let is_equal = match call.route {
        Route::AgentScope => reads_as(shown, task, &AGENTSCOPE),
        Route::Rest | Route::Coordination | Route::Mastra => *shown == **task,
    };
    let is_the_one = match &call.operation {
        Operation::Update { id, .. }
        | Operation::Complete(id)
        | Operation::Release { id, .. }
        | Operation::Heartbeat(id)
        | Operation::ReadTask(id)
        | Operation::Claim { id: Some(id), .. }
        | Operation::Create { id: Some(id), .. } => task["id"] == **id,
        // The model says which one it is; the answer must show it.
        Operation::Create { content, .. } => task["content"] == **content,
        Operation::Claim { owner, .. } => task["owner"] == **owner,
        _ => true,
    };
    if is_equal && is_the_one { Ok(()) } else { Err(format!("it shows the task {shown}")) }
}

fn reads_as(shown: &Value, task: &Value, names: &[(&str, &str)]) -> bool {
    names.iter().all(|(theirs, ours)| shown[*theirs] == task[*ours])
}

fn check_summary(summary: &Value, state: &State) -> Result<(), String> {
    let count = |status: &str| state.iter().filter(|task| task["status"] == status).count();
    let counts = [
        ("total", state.len()),
        ("completed", count("completed")),
        ("inProgress", count("in_progress")),
        ("pending", count("pending")),
    ];
    match counts.iter().find(|(name, count)| summary[*name] != *count) {
        Some((name, count)) => Err(format!("it counts {} {name} where there are {count}", summary[*name])),
        None => Ok(()),
    }
}
