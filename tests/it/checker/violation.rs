//! What no order explains, with as little of the thread's history as shows it.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::call::{Call, Outcome};
use super::model::Task;
use super::verify::Thread;

#[derive(Debug, Clone, Default)]
pub(crate) struct Violation {
    what: String,
    revisions: BTreeSet<i64>,
    actors: BTreeSet<String>,
    shown: String,
}

impl Violation {
    pub(crate) fn new(what: String) -> Self {
        Self { what, ..Self::default() }
    }

    /// Says which revision it is about.
    pub(crate) fn at(mut self, revision: i64) -> Self {
        self.revisions.insert(revision);
        self
    }

    /// Says which call it is about.
    pub(crate) fn of(mut self, actor: &str) -> Self {
        self.actors.insert(actor.to_owned());
        self
    }

    /// Tasks in one line each.
    pub(crate) fn tasks(tasks: &[Task]) -> String {
        tasks.iter().fold(String::new(), |mut text, task| {
            let _ = write!(
                text,
                "\n    {} {:?} {} owner {:?}, leased {}, blocked by {:?}",
                task.id, task.content, task.status, task.owner, task.is_leased, task.blockers
            );
            text
        })
    }

    /// Adds what the thread has about it.
    pub(crate) fn in_thread(mut self, thread: &Thread) -> Self {
        let mut text = format!("thread {}: {}\n", thread.name, self.what);
        for call in thread.calls.iter().filter(|call| self.actors.contains(&call.actor)) {
            push_call(&mut text, call);
        }
        let is_near = |revision: i64| self.revisions.iter().any(|at| (at - 1..=*at).contains(&revision));
        for change in thread.changes.iter().filter(|change| change["revision"].as_i64().is_some_and(is_near)) {
            let _ = writeln!(text, "  revision {}: {}", change["revision"], short(change));
            let actor = change["actor"].as_str().unwrap_or_default();
            let makers = thread.calls.iter().filter(|call| call.actor == actor && !self.actors.contains(actor));
            makers.for_each(|call| push_call(&mut text, call));
        }
        self.shown = text;
        self
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.shown.is_empty() { &self.what } else { &self.shown })
    }
}

fn push_call(text: &mut String, call: &Call) {
    let _ = writeln!(text, "  {} ({:?}): {:?}", call.actor, call.route, call.operation);
    if let Some(condition) = &call.condition {
        let _ = writeln!(text, "    on condition {condition:?}");
    }
    if let Some(token) = &call.token {
        let _ = writeln!(text, "    with {token:?}");
    }
    for attempt in &call.attempts {
        let _ = write!(text, "    {}–{} µs at server {}: ", attempt.start, attempt.end, attempt.server);
        let _ = match &attempt.outcome {
            Outcome::NotDone(why) => writeln!(text, "not done, {why}"),
            Outcome::Unknown(why) => writeln!(text, "unknown, {why}"),
            Outcome::Answered(answer) => {
                let (tag, replayed) = (answer.etag.as_deref().unwrap_or("no tag"), answer.is_replayed);
                writeln!(text, "{} {tag}, replayed {replayed}: {}", answer.status, short(&answer.body))
            }
        };
    }
}

/// Leaves out what seldom matters and says each task in a word.
fn short(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(short).collect(),
        Value::Object(task) if task.contains_key("content") && task.contains_key("id") => {
            let text = |key: &str| task.get(key).map(|value| value.to_string().replace('"', "")).unwrap_or_default();
            let keys = ["id", "content", "status", "owner", "blocks", "lease", "revision"];
            keys.map(text).join(" ").into()
        }
        Value::Object(object) => {
            let is_noise = |key: &str| matches!(key, "content" | "title" | "type" | "detail" | "instance" | "at");
            let kept = object.iter().filter(|(key, _)| !is_noise(key));
            Value::Object(kept.map(|(key, value)| (key.clone(), short(value))).collect())
        }
        _ => value.clone(),
    }
}
