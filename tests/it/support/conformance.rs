//! Replays what was recorded from the originals through an edge. Every edge passes the same cases, judged here.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A way to call tools.
pub(crate) trait ToolEdge {
    /// Calls a tool with arguments as they are spelled; returns the result's JSON object, whose `content` is its text.
    async fn call(&self, thread: &str, tool: &str, arguments: &str) -> Value;

    /// Returns the tasks of a thread: id, content, status, description, metadata, owner, blocks, blockedBy and whatever
    /// else.
    async fn tasks(&self, thread: &str) -> Vec<Value>;
}

/// One of the recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    Mastra,
    AgentScope,
}

impl Recording {
    fn file(self) -> (&'static str, usize) {
        match self {
            Self::Mastra => (include_str!("../../conformance/mastra.jsonl"), 217),
            Self::AgentScope => (include_str!("../../conformance/agentscope.jsonl"), 190),
        }
    }

    /// Replays each case on a thread of its own.
    pub(crate) async fn replay(self, edge: &impl ToolEdge) {
        let (file, cases_recorded) = self.file();
        let mut failures = Vec::new();
        let mut cases = 0;
        for line in file.lines() {
            cases += 1;
            let case: Value = serde_json::from_str(line).expect("a case");
            // The inputs are read from the text again, since a Value would spell their numbers anew.
            let inputs: Case<'_> = serde_json::from_str(line).expect("a case");
            let thread = format!("{self:?}-{cases}");
            for (at, (step, input)) in case["steps"].as_array().expect("steps").iter().zip(inputs.steps).enumerate() {
                let (tool, expect) = (step["tool"].as_str().expect("a tool"), &step["expect"]);
                // Read only where it is judged: that is most of the time that a replay takes.
                let is_refused = expect["invalid"] == true;
                let before = if is_refused { edge.tasks(&thread).await } else { Vec::new() };
                let body = edge.call(&thread, tool, input.input.get()).await;
                let is_judged = is_refused || self == Self::AgentScope;
                let after = if is_judged { edge.tasks(&thread).await } else { Vec::new() };
                if let Err(why) = self.judge(&before, &after, expect, &body) {
                    failures
                        .push(format!("{} step {at}: {why}\n  input {}\n  answer {body}", case["name"], input.input));
                    break;
                }
            }
        }
        assert!(failures.is_empty(), "{} of {cases} cases fail:\n{}", failures.len(), failures.join("\n"));
        assert_eq!(cases, cases_recorded);
    }

    fn judge(self, before: &[Value], after: &[Value], expect: &Value, body: &Value) -> Result<(), String> {
        if body["content"].as_str().is_none_or(str::is_empty) {
            return Err("there is no text".to_owned());
        }
        if expect["invalid"] == true {
            equal("isError", &body["isError"], &true.into())?;
            return if before == after { Ok(()) } else { Err("a refusal changed the list".to_owned()) };
        }
        match self {
            Self::Mastra => ["isError", "tasks", "summary", "incompleteTasks"]
                .iter()
                .try_for_each(|key| equal(key, &body[key], &expect[key])),
            Self::AgentScope => {
                equal("isError", &body["isError"], &expect["isError"])?;
                if !expect["updatedFields"].is_null() {
                    equal("updatedFields", &body["updatedFields"], &expect["updatedFields"])?;
                }
                check_state(after, expect["state"].as_array().expect("a state"))
            }
        }
    }
}

#[derive(Deserialize)]
struct Case<'a> {
    #[serde(borrow)]
    steps: Vec<Step<'a>>,
}

#[derive(Deserialize)]
struct Step<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
}

fn check_state(tasks: &[Value], expected: &[Value]) -> Result<(), String> {
    const KEYS: [&str; 8] = ["id", "content", "status", "description", "metadata", "owner", "blocks", "blockedBy"];
    let sorted = |task: &Value| {
        let mut task: Value = KEYS.iter().map(|key| ((*key).to_owned(), task[key].clone())).collect();
        for edges in ["blocks", "blockedBy"] {
            task[edges].as_array_mut().expect("edges").sort_by_key(ToString::to_string);
        }
        task
    };
    let state: Value = tasks.iter().map(sorted).collect();
    equal("state", &state, &expected.iter().map(sorted).collect())
}

fn equal(what: &str, have: &Value, want: &Value) -> Result<(), String> {
    if have == want { Ok(()) } else { Err(format!("{what}\n  is    {have}\n  wants {want}")) }
}
