//! What was asked, when, and what came back.

use serde_json::{Value, json};

use super::operation::{Item, Operation, Patch, active_form};

/// One call of a client, with all its attempts: several only under an idempotency key.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Its thread, as the path names it.
    pub(crate) thread: String,
    /// Names the call in the history: no other call has it.
    pub(crate) actor: String,
    pub(crate) operation: Operation,
    pub(crate) route: Route,
    pub(crate) token: Option<Token>,
    pub(crate) condition: Option<Condition>,
    pub(crate) has_key: bool,
    pub(crate) attempts: Vec<Attempt>,
}

/// Which door the call goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Rest,
    Mastra,
    AgentScope,
    Coordination,
}

/// A lease token and the task that it is of.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) task: String,
    pub(crate) text: String,
}

/// What `If-Match` or, on a read, `If-None-Match` says.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) tag: String,
    /// The task that the tag is of; the list if none.
    pub(crate) task: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    /// Which process was asked.
    pub(crate) server: usize,
    /// Microseconds since the run began.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// It cannot have happened: it was not sent as a whole, or the service says so.
    NotDone(String),
    /// It may have happened or not, and may still happen.
    Unknown(String),
    Answered(Answer),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) etag: Option<String>,
    pub(crate) is_replayed: bool,
    pub(crate) body: Value,
}

/// A request as every transport sends it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
}

impl Answer {
    /// Whether the call was refused, in whichever form.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status >= 400 || self.body["isError"] == true
    }
}

impl Call {
    /// The answers, each with its attempt.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (&Attempt, &Answer)> {
        self.attempts.iter().filter_map(|attempt| match &attempt.outcome {
            Outcome::Answered(answer) => Some((attempt, answer)),
            Outcome::NotDone(_) | Outcome::Unknown(_) => None,
        })
    }

    pub(crate) fn start(&self) -> u64 {
        self.attempts.iter().map(|attempt| attempt.start).min().unwrap_or(0)
    }

    pub(crate) fn is_read(&self) -> bool {
        matches!(self.operation, Operation::ReadList | Operation::ReadTask(_) | Operation::ReadHistory { .. })
    }

    /// The name under which the history shows it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.operation {
            Operation::Write(_) => "task_write",
            Operation::Update { .. } => "task_update",
            Operation::Complete(_) => "task_complete",
            Operation::Create { .. } => "task_create",
            Operation::Delete(_) => "task_delete",
            Operation::Clear => "task_clear",
            Operation::Claim { .. } => "task_claim",
            Operation::Release { .. } => "task_release",
            Operation::Heartbeat(_) => "task_heartbeat",
            Operation::Restore(_) => "task_restore",
            Operation::ReadList => "task_check",
            Operation::ReadTask(_) => "task_get",
            Operation::ReadHistory { .. } => "task_history",
        }
    }

    pub(crate) fn request(&self) -> Request {
        let (method, path, body) = match self.route {
            Route::Rest => self.rest(),
            Route::Mastra | Route::AgentScope | Route::Coordination => {
                let (tool, mut arguments) = self.tool();
                if let Some(token) = &self.token {
                    arguments["lease_token"] = token.text.clone().into();
                }
                ("POST", format!("tools/{tool}"), Some(arguments))
            }
        };
        let mut headers = vec![("X-Actor", self.actor.clone())];
        if let Some(condition) = &self.condition {
            let name = if self.is_read() { "If-None-Match" } else { "If-Match" };
            headers.push((name, condition.tag.clone()));
            if self.is_read() {
                headers.push(("Prefer", "wait=1".to_owned()));
            }
        }
        if self.has_key {
            headers.push(("Idempotency-Key", format!("key-{}", self.actor)));
        }
        let body = body.map(|body| body.to_string());
        Request { method, path: format!("/threads/{}/{path}", self.thread), headers, body }
    }

    fn rest(&self) -> (&'static str, String, Option<Value>) {
        let list = || "tasks".to_owned();
        let task = |id: &String| format!("tasks/{id}");
        match &self.operation {
            Operation::Write(_) => ("PUT", list(), Some(self.items())),
            Operation::Update { id, patch, .. } => ("PATCH", task(id), Some(rest_patch(patch))),
            Operation::Complete(id) => ("POST", format!("tasks/{id}/complete"), None),
            Operation::Create { id, content, blocked_by } => {
                let mut body = json!({"content": content, "blockedBy": blocked_by});
                if let Some(id) = id {
                    body["id"] = id.clone().into();
                }
                ("POST", list(), Some(body))
            }
            Operation::Delete(id) => ("DELETE", task(id), None),
            Operation::Clear => ("DELETE", list(), None),
            Operation::ReadTask(id) => ("GET", task(id), None),
            _ => ("GET", list(), None),
        }
    }

    fn tool(&self) -> (&'static str, Value) {
        let is_agentscope = self.route == Route::AgentScope;
        match &self.operation {
            Operation::Write(_) => ("task_write", self.items()),
            Operation::Update { id, patch, .. } if is_agentscope => ("TaskUpdate", agentscope_patch(id, patch)),
            Operation::Update { id, patch, .. } => {
                let mut arguments = rest_patch(patch);
                arguments["id"] = id.clone().into();
                ("task_update", arguments)
            }
            Operation::Complete(id) => ("task_complete", json!({"id": id})),
            Operation::Create { content, .. } => ("TaskCreate", json!({"subject": content, "description": ""})),
            Operation::Delete(id) => ("TaskUpdate", json!({"task_id": id, "status": "deleted"})),
            Operation::Claim { owner, id, lease_seconds } => {
                ("task_claim", json!({"owner": owner, "id": id, "lease_seconds": lease_seconds}))
            }
            Operation::Release { id, is_forced: true } => ("task_release", json!({"id": id, "force": true})),
            Operation::Release { id, is_forced: false } => ("task_release", json!({"id": id})),
            Operation::Heartbeat(id) => ("task_heartbeat", json!({"id": id, "lease_seconds": 60})),
            Operation::Restore(revision) => ("task_restore", json!({"revision": revision})),
            Operation::ReadTask(id) => ("TaskGet", json!({"task_id": id})),
            Operation::ReadHistory { after } => ("task_history", json!({"after": after, "limit": 10})),
            Operation::ReadList if is_agentscope => ("TaskList", json!({})),
            Operation::ReadList | Operation::Clear => ("task_check", json!({})),
        }
    }

    fn items(&self) -> Value {
        let Operation::Write(items) = &self.operation else { return Value::Null };
        let item = |item: &Item| {
            json!({
                "id": item.id, "content": item.content, "status": item.status, "activeForm": active_form(&item.content)
            })
        };
        json!({"tasks": items.iter().map(item).collect::<Vec<_>>()})
    }
}

fn rest_patch(patch: &Patch) -> Value {
    let mut body = json!({});
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body[key] = value;
        }
    };
    put("content", patch.content.clone().map(Value::from));
    put("status", patch.status.map(Value::from));
    put("description", patch.description.clone().map(Value::from));
    put("owner", patch.owner.clone().map(Value::from));
    put("metadata", patch.metadata.as_ref().map(|(key, value)| json!({key: value})));
    let ids = |ids: &Vec<String>| (!ids.is_empty()).then(|| json!(ids));
    put("addBlocks", ids(&patch.add_blocks));
    put("addBlockedBy", ids(&patch.add_blocked_by));
    put("removeBlockedBy", ids(&patch.remove_blocked_by));
    body
}

fn agentscope_patch(id: &str, patch: &Patch) -> Value {
    let mut arguments = rest_patch(patch);
    let names = [
        ("content", "subject"),
        ("addBlocks", "add_blocks"),
        ("addBlockedBy", "add_blocked_by"),
        ("removeBlockedBy", "remove_blocked_by"),
    ];
    for (ours, theirs) in names {
        if let Some(value) = arguments.as_object_mut().and_then(|arguments| arguments.shift_remove(ours)) {
            arguments[theirs] = value;
        }
    }
    if patch.owner == Some(None) {
        arguments["owner"] = "".into();
    }
    arguments["task_id"] = id.into();
    arguments
}
