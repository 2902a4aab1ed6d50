//! One tool call from its arguments to its result, the same for every edge.
//!
//! What an agent can mend becomes a result whose `isError` is true; what its runtime did, or what nobody can help at the
//! moment, stays an error, and each edge says it in its own way.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::domain::{Json, Outcome, Revision, TaskList, ThreadId, ThreadKey, Version};
use crate::json::to_text;
use crate::service::{self, Answered, Caller, ChangeRequest, HistoryQuery, Lists, Precondition, Retry};
use crate::store::AnswerKey;
use crate::toolset::{self, Ask, Call, HistoryAsk, Invalid, Tool, ToolResult, WaitAsk};

/// The most changes that a call which waited is told of.
const CHANGES_SHOWN_MAX: usize = 100;
/// The longest that a call waits for a change.
pub const WAIT_MAX: Duration = Duration::from_secs(25);

/// One call of a tool.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'static Tool,
    /// In which thread.
    pub thread: ThreadId,
    /// The arguments as they were sent.
    pub arguments: Option<&'a Json>,
    /// What must hold of the list.
    pub precondition: Option<Precondition>,
    /// The lease token that the caller shows beside the arguments, which go before it.
    pub token: Option<Arc<str>>,
    /// How to know this call again if it is repeated; passed over by tools that only read.
    pub repeat: Option<Repeat>,
}

/// How to know a call again if it is repeated.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// Under what the answer is kept.
    pub key: AnswerKey,
    /// Tells this call from another one under the same key.
    pub fingerprint: String,
}

/// What a tool call came to. It can be written down and read back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// Whether the call was refused.
    pub is_error: bool,
    /// The text.
    pub text: String,
    /// The JSON object.
    pub body: Box<RawValue>,
    /// The list's revision.
    pub revision: Revision,
    /// The change that made it.
    pub change_id: Version,
    /// Whether the call was done before, and this is what it was answered with then.
    #[serde(skip)]
    pub is_replayed: bool,
}

impl ToolAnswer {
    fn new(result: ToolResult, list: &TaskList) -> Self {
        Self {
            is_error: result.is_error,
            text: result.text,
            body: result.body,
            revision: list.revision(),
            change_id: list.change_id(),
            is_replayed: false,
        }
    }

    fn of_call(call: &Call, list: &TaskList, outcome: &Outcome, changed: bool) -> Self {
        Self::new(call.answered(list, outcome, changed), list)
    }
}

/// Why a tool call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service said no, for a reason that is none of the agent's.
    #[error(transparent)]
    Service(#[from] service::Error),
    /// What was written down for repeated calls cannot be read.
    #[error("a kept answer cannot be read")]
    Replay(#[source] serde_json::Error),
}

/// Does what a call asks for.
///
/// # Errors
/// Everything but a refusal of the domain, see [`Error`].
pub async fn run(lists: &Lists, caller: &Caller, call: ToolCall<'_>) -> Result<ToolAnswer, Error> {
    let key = caller.thread(call.thread);
    match toolset::interpret(call.tool, call.arguments) {
        Err(invalid) => misunderstood(lists, caller, &key, call.tool, &invalid).await,
        Ok(understood) => match understood.ask.clone() {
            Ask::History(ask) => told(lists, caller, &key, &understood, ask).await,
            Ask::Wait(ask) => wait(lists, caller, &key, &understood, ask).await,
            Ask::Read => look(lists, caller, &key, &understood, call.precondition.as_ref()).await,
            Ask::Change(operation) => {
                let understood = Arc::new(understood);
                let retry = call.repeat.map(|repeat| retry(repeat, &understood));
                let token = understood.token.clone().or(call.token);
                let request = ChangeRequest { key, operation, precondition: call.precondition, token, retry };
                change(lists, caller, request, &understood).await
            }
        },
    }
}

/// Answers a call whose arguments cannot be used.
///
/// # Errors
/// The list cannot be read.
pub async fn misunderstood(
    lists: &Lists,
    caller: &Caller,
    key: &ThreadKey,
    tool: &'static Tool,
    invalid: &Invalid,
) -> Result<ToolAnswer, Error> {
    let list = lists.read(caller, key).await?;
    Ok(ToolAnswer::new(toolset::invalid(tool, invalid, &list), &list))
}

async fn look(
    lists: &Lists,
    caller: &Caller,
    key: &ThreadKey,
    call: &Call,
    precondition: Option<&Precondition>,
) -> Result<ToolAnswer, Error> {
    let list = lists.read(caller, key).await?;
    if let Some(precondition) = precondition {
        // Judged as for a change, so that a condition means the same with every tool.
        match precondition.judge(&list) {
            service::Verdict::Holds => {}
            service::Verdict::Fails => return Err(service::Error::PreconditionFailed { list: Box::new(list) }.into()),
            service::Verdict::Refused(refusal) => {
                return Ok(ToolAnswer::new(toolset::refused(call.tool, &refusal, &list, &call.warnings), &list));
            }
        }
    }
    Ok(ToolAnswer::of_call(call, &list, &Outcome::default(), false))
}

/// Tells what changed, as the tool `task_history` does.
///
/// # Errors
/// The service's, see [`Error`].
pub async fn history(lists: &Lists, caller: &Caller, key: &ThreadKey, ask: HistoryAsk) -> Result<ToolAnswer, Error> {
    let tool = toolset::find("task_history").ok_or(service::Error::Stopped)?;
    told(lists, caller, key, &Call::of(tool, Ask::History(ask.clone())), ask).await
}

async fn told(
    lists: &Lists,
    caller: &Caller,
    key: &ThreadKey,
    call: &Call,
    ask: HistoryAsk,
) -> Result<ToolAnswer, Error> {
    let query = HistoryQuery { after: ask.after, limit: ask.limit, task: ask.task };
    let list = lists.read(caller, key).await?;
    let history = lists.history(caller, key, &query).await?;
    Ok(ToolAnswer::new(call.told(&history), &list))
}

async fn wait(lists: &Lists, caller: &Caller, key: &ThreadKey, call: &Call, ask: WaitAsk) -> Result<ToolAnswer, Error> {
    let timeout = Duration::from_secs(ask.timeout_seconds).min(WAIT_MAX);
    let list = lists.wait(caller, key, ask.after, timeout).await?;
    let query = HistoryQuery { after: ask.after, limit: CHANGES_SHOWN_MAX, task: None };
    let changes = lists.history(caller, key, &query).await?.changes;
    Ok(ToolAnswer::new(call.waited(&list, list.revision() > ask.after, &changes), &list))
}

async fn change(lists: &Lists, caller: &Caller, request: ChangeRequest, call: &Call) -> Result<ToolAnswer, Error> {
    match lists.change(caller, request).await {
        Ok(Answered::Fresh(done)) => Ok(ToolAnswer::of_call(call, &done.list, &done.outcome, done.changed)),
        Ok(Answered::Replayed(text)) => {
            let answer: ToolAnswer = serde_json::from_str(&text).map_err(Error::Replay)?;
            Ok(ToolAnswer { is_replayed: true, ..answer })
        }
        Err(service::Error::Refused { refusal, list }) => {
            Ok(ToolAnswer::new(toolset::refused(call.tool, &refusal, &list, &call.warnings), &list))
        }
        Err(error) => Err(error.into()),
    }
}

fn retry(repeat: Repeat, call: &Arc<Call>) -> Retry {
    let call = Arc::clone(call);
    Retry {
        key: repeat.key,
        fingerprint: repeat.fingerprint,
        write_down: Arc::new(move |done| to_text(&ToolAnswer::of_call(&call, &done.list, &done.outcome, done.changed))),
    }
}
