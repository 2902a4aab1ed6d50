//! What a call's arguments say to this edge, and not to the tool: which thread is meant, and under which key the call may
//! be repeated.

use serde_json::value::RawValue;

use crate::domain::{Json, ThreadId};
use crate::edge::parse_key;
use crate::json::{JsonFault, parse};
use crate::toolset::Invalid;

/// The argument that names the thread where the URL does not.
pub(super) const THREAD_ID: &str = "thread_id";
/// The argument that names the key of a call.
const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// The arguments of a call, and what they say to this edge.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// What is left for the tool.
    pub(super) arguments: Option<Json>,
    /// The thread that is meant.
    pub(super) thread: Option<ThreadId>,
    /// Under what the answer is kept for repeated calls.
    pub(super) repeat_key: Option<String>,
}

/// Reads the arguments as they were spelled; `thread` is the one that the URL or a header names.
pub(super) fn read(raw: Option<&RawValue>, thread: Option<&ThreadId>) -> Result<Read, Invalid> {
    let arguments = raw.map(|raw| parse(raw.get())).transpose().map_err(unkeepable)?;
    let mut read = Read { arguments: arguments.map(decoded), ..Read::default() };
    if let Some(Json::Object(members)) = &mut read.arguments {
        for name in [THREAD_ID, "threadId"] {
            if let Some(value) = taken(members, name) {
                let given = ThreadId::parse(text(&value, name)?).map_err(|fault| wrong(name, &fault.to_string()))?;
                if read.thread.as_ref().or(thread).is_some_and(|known| *known != given) {
                    return Err(wrong(name, "names another thread than the one that is meant: leave it out"));
                }
                read.thread = Some(given);
            }
        }
        for name in [IDEMPOTENCY_KEY, "idempotencyKey"] {
            if let Some(value) = taken(members, name) {
                let given = parse_key(&text(&value, name)?).map_err(|fault| wrong(name, &fault.to_string()))?;
                if read.repeat_key.as_ref().is_some_and(|known| *known != given) {
                    return Err(wrong(name, "is given twice, and not alike"));
                }
                read.repeat_key = Some(given);
            }
        }
    }
    read.thread = read.thread.or_else(|| thread.cloned());
    Ok(read)
}

/// Arguments that came as one text hold their names within; a text that holds no object is left for the tool to refuse.
fn decoded(arguments: Json) -> Json {
    match arguments {
        Json::String(text) => match parse(&text) {
            Ok(object @ Json::Object(_)) => object,
            Ok(_) | Err(_) => Json::String(text),
        },
        other => other,
    }
}

/// Takes a member out; null is absent.
fn taken(members: &mut Vec<(String, Json)>, name: &str) -> Option<Json> {
    let at = members.iter().position(|(key, _)| key == name)?;
    Some(members.remove(at).1).filter(|value| *value != Json::Null)
}

fn text(value: &Json, name: &str) -> Result<String, Invalid> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(spelling) if spelling.bytes().all(|byte| byte.is_ascii_digit()) => Ok(spelling.to_string()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            Err(wrong(name, "must be a string"))
        }
    }
}

fn wrong(name: &str, message: &str) -> Invalid {
    Invalid::one(format!("/{name}"), message)
}

fn unkeepable(fault: JsonFault) -> Invalid {
    match fault {
        JsonFault::Syntax { message } => Invalid::one("", message),
        JsonFault::Unkeepable { pointer, message } => Invalid::one(pointer, message),
    }
}
