//! One tool call. Whatever an agent or its runtime can mend becomes a result, in the toolset's own form.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use super::arguments::{self, Read};
use super::incoming::{CallHeaders, Incoming};
use super::unanswered;
use crate::domain::ThreadId;
use crate::edge::{parse_key, precondition, repeat};
use crate::service::{self, Caller, Lists, Precondition, Target};
use crate::tool_call::{self, Repeat, ToolAnswer, ToolCall};
use crate::toolset::{self, Invalid, Tool, ToolResult, Toolset};

/// Where a request of the protocol carries the key under which its answer is kept for repeated calls.
pub(super) const IDEMPOTENCY_KEY: &str = "io.tasklane/idempotency-key";
/// Where a result of the protocol says that it is the answer to an earlier call.
const IDEMPOTENCY_REPLAYED: &str = "io.tasklane/idempotency-replayed";
const NO_THREAD_ID: &str = "Say which thread is meant: give thread_id, the id of the conversation or job whose task \
                            list this is. Nothing was changed.";
const NO_THREAD_HEADER: &str = "The client does not say which thread is meant: it has to send the header X-Thread-Id \
                                with each call. Nothing was changed.";
const KEY_IN_USE: &str =
    "An equal call under the same key may still be running. Try again in a moment, under the same key.";

/// Does what a tool call asks for; `meta_key` is the key in its metadata.
pub(super) async fn call(
    lists: &Lists,
    tool: &'static Tool,
    names_thread: bool,
    incoming: &Incoming,
    meta_key: Option<&Value>,
) -> Called {
    let caller = match incoming.caller() {
        Ok(caller) => caller,
        Err(fault) => return Called::failed(tool, &fault.to_string()),
    };
    let read = match (arguments::read(incoming.arguments(), incoming.thread()), incoming.thread()) {
        (Ok(read), _) => read,
        (Err(invalid), Some(thread)) => return misunderstood(lists, tool, caller, thread, &invalid).await,
        (Err(invalid), None) => return Called::failed(tool, &invalid.sentence()),
    };
    let Some(thread) = read.thread.clone() else {
        return Called::failed(tool, if names_thread { NO_THREAD_ID } else { NO_THREAD_HEADER });
    };
    let repeat_key = match repeat_key(&read, meta_key, incoming.headers().repeat_key.as_deref()) {
        Ok(key) => key,
        Err(invalid) => return misunderstood(lists, tool, caller, &thread, &invalid).await,
    };
    let precondition = match condition(tool, incoming.headers()) {
        Ok(precondition) => precondition,
        Err(invalid) => return misunderstood(lists, tool, caller, &thread, &invalid).await,
    };
    if tool.name == "task_wait" {
        incoming.patience().grant(tool_call::WAIT_MAX);
    }
    let key = caller.thread(thread.clone());
    let is_repeatable = repeat_key.is_some() && !tool.hints.read_only;
    let asked = ToolCall {
        tool,
        thread,
        arguments: read.arguments.as_ref(),
        precondition,
        token: incoming.headers().token.clone(),
        repeat: repeat_key.map(|key| repeat_of(tool, caller, &key, &read)),
    };
    match tool_call::run(lists, caller, asked).await {
        Err(tool_call::Error::Service(service::Error::Busy)) if is_repeatable => Called::failed(tool, KEY_IN_USE),
        // The list may well be told, though the call was not done.
        Err(tool_call::Error::Service(error @ service::Error::KeyReused)) => {
            let (sentence, _) = unanswered::of_service(&error);
            let list = lists.read(caller, &key).await.ok();
            Called { result: toolset::failed(tool, &sentence, list.as_ref()), is_replayed: false }
        }
        answer => Called::of(tool, answer),
    }
}

async fn misunderstood(
    lists: &Lists,
    tool: &'static Tool,
    caller: &Caller,
    thread: &ThreadId,
    invalid: &Invalid,
) -> Called {
    let key = caller.thread(thread.clone());
    Called::of(tool, tool_call::misunderstood(lists, caller, &key, tool, invalid).await)
}

/// What a tool call came to.
pub(super) struct Called {
    result: ToolResult,
    is_replayed: bool,
}

impl Called {
    fn failed(tool: &Tool, sentence: &str) -> Self {
        Self { result: toolset::failed(tool, sentence, None), is_replayed: false }
    }

    fn of(tool: &Tool, answer: Result<ToolAnswer, tool_call::Error>) -> Self {
        match answer {
            Ok(ToolAnswer { is_error, text, body, is_replayed, .. }) => {
                Self { result: ToolResult { is_error, text, body }, is_replayed }
            }
            Err(error) => {
                unanswered::log(&error);
                let (sentence, list) = unanswered::sentence(&error);
                Self { result: toolset::failed(tool, &sentence, list), is_replayed: false }
            }
        }
    }

    /// Makes it a result of the protocol; its structured part goes by another way.
    pub(super) fn into_result(self, tool: &Tool, incoming: &Incoming) -> CallToolResult {
        let ToolResult { is_error, text, body } = self.result;
        let content = vec![ContentBlock::text(text)];
        // Mastra's client throws away the structured part of what the protocol calls an error, and with it the list.
        let mut result = match tool.toolset {
            Toolset::AgentScope | Toolset::Coordination if is_error => CallToolResult::error(content),
            Toolset::Mastra | Toolset::AgentScope | Toolset::Coordination => CallToolResult::success(content),
        };
        result.structured_content = Some(json!({}));
        incoming.keep_structured(body);
        if self.is_replayed {
            result.meta = Some(MetaObject::from(json_object(IDEMPOTENCY_REPLAYED, true)));
        }
        result
    }
}

fn json_object(key: &str, value: bool) -> serde_json::Map<String, Value> {
    serde_json::Map::from_iter([(key.to_owned(), Value::Bool(value))])
}

/// Returns the one key that the call gives, wherever it gives it.
fn repeat_key(read: &Read, meta: Option<&Value>, header: Option<&str>) -> Result<Option<String>, Invalid> {
    let wrong = |message: &str| Invalid::one("/_meta", format!("{IDEMPOTENCY_KEY} {message}"));
    let meta = match meta {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(parse_key(text).map_err(|fault| wrong(&fault.to_string()))?),
        Some(_) => return Err(wrong("must be a string")),
    };
    let mut given = [read.repeat_key.clone(), meta, header.map(str::to_owned)].into_iter().flatten();
    let key = given.next();
    if given.any(|other| Some(&other) != key.as_ref()) {
        return Err(wrong("is given in several places, and not alike"));
    }
    Ok(key)
}

/// Returns what must hold of the list. `If-None-Match` asks a reading tool for no answer at all, so that one passes it over.
fn condition(tool: &Tool, headers: &CallHeaders) -> Result<Option<Precondition>, Invalid> {
    let if_none_match = headers.if_none_match.as_deref().filter(|_| !tool.hints.read_only);
    precondition(headers.if_match.as_deref(), if_none_match, &Target::List)
        .map_err(|fault| Invalid::one("/header/If-None-Match", fault.to_string()))
}

/// The same as for a tool call over HTTP, so that a call may be repeated on another edge.
fn repeat_of(tool: &Tool, caller: &Caller, key: &str, read: &Read) -> Repeat {
    repeat(key, &caller.actor, format!("tool/{}", tool.name), "", read.arguments.as_ref())
}
