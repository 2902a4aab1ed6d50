//! The OpenAPI document for importers that make a tool of each operation. They understand less than OpenAPI says: so this
//! is 3.0.3, without references, unions and null types, with short descriptions and without headers, and has only what
//! an agent could use.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

/// The operations that an agent could use.
const OPERATIONS: [&str; 9] = [
    "task_write",
    "task_check",
    "task_create",
    "task_clear",
    "task_get",
    "task_update",
    "task_delete",
    "task_complete",
    "thread_list",
];
/// The most characters of a description.
const DESCRIPTION_CHARS_MAX: usize = 300;
/// More than any schema here is deep; a reference that leads to itself ends there.
const LEVELS_MAX: usize = 32;

/// Derives the document and writes it as JSON.
#[must_use]
pub fn json(document: &OpenApi) -> String {
    let whole = serde_json::to_value(document).unwrap_or_default();
    let empty = Map::new();
    let paths = whole.get("paths").and_then(Value::as_object).unwrap_or(&empty);
    let paths: Map<String, Value> = paths
        .iter()
        .filter_map(|(path, item)| {
            let item = path_item(&whole, item.as_object()?);
            (!item.is_empty()).then(|| (path.clone(), Value::Object(item)))
        })
        .collect();
    let info = |key: &str| whole.pointer(&format!("/info/{key}")).cloned().unwrap_or_default();
    let derived = json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Tasklane tools",
            "description": "What agents may do with the task lists of their threads.",
            "version": info("version"),
            "contact": info("contact"),
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "servers": whole.get("servers"),
        "tags": [
            {"name": "tasks", "description": "A thread's task list, whole and task by task."},
            {"name": "threads", "description": "The threads of a resource."},
        ],
        "security": [],
        "paths": paths,
    });
    format!("{derived:#}")
}

fn path_item(whole: &Value, item: &Map<String, Value>) -> Map<String, Value> {
    let is_tool = |operation: &Value| {
        operation.get("operationId").and_then(Value::as_str).is_some_and(|id| OPERATIONS.contains(&id))
    };
    item.iter()
        .filter(|(_, operation)| is_tool(operation))
        .map(|(method, operation)| (method.clone(), tool(whole, operation)))
        .collect()
}

fn tool(whole: &Value, operation: &Value) -> Value {
    let mut tool = Map::new();
    for key in ["operationId", "summary", "tags"] {
        if let Some(value) = operation.get(key) {
            tool.insert(key.to_owned(), value.clone());
        }
    }
    let description = operation.get("description").or(operation.get("summary")).and_then(Value::as_str);
    tool.insert("description".to_owned(), shortened(description.unwrap_or_default()).into());
    let parameters: Vec<Value> = operation
        .get("parameters")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|parameter| parameter.get("in").is_some_and(|place| place != "header"))
        .map(|parameter| simplified(whole, parameter, LEVELS_MAX))
        .collect();
    tool.insert("parameters".to_owned(), parameters.into());
    if let Some(body) = operation.get("requestBody") {
        tool.insert("requestBody".to_owned(), simplified(whole, body, LEVELS_MAX));
    }
    tool.insert("responses".to_owned(), responses(whole, operation).into());
    Value::Object(tool)
}

/// Keeps what a tool answers when it works, and the form of all else.
fn responses(whole: &Value, operation: &Value) -> Map<String, Value> {
    let given = operation.get("responses").and_then(Value::as_object).into_iter().flatten();
    let mut kept: Map<String, Value> = given
        .filter(|(status, _)| status.starts_with('2'))
        .map(|(status, response)| {
            let mut response = simplified(whole, response, LEVELS_MAX);
            if let Some(response) = response.as_object_mut() {
                response.remove("headers");
            }
            (status.clone(), response)
        })
        .collect();
    let problem = json!({
        "type": "object",
        "required": ["code", "content", "isError"],
        "properties": {
            "code": {"type": "string", "description": "What kind of problem it is, for programs."},
            "content": {"type": "string", "description": "What happened and what to do next."},
            "isError": {"type": "boolean", "description": "Always true."},
        },
    });
    // Not as `default`, which generators of code take for one more result of a call that worked.
    for status in ["4XX", "5XX"] {
        kept.insert(
            status.to_owned(),
            json!({
                "description": "What was wrong, and what to do next",
                "content": {"application/problem+json": {"schema": problem}},
            }),
        );
    }
    kept
}

/// Puts in what references lead to, and takes out what OpenAPI 3.0 or an importer does not know.
fn simplified(whole: &Value, value: &Value, levels_left: usize) -> Value {
    if levels_left == 0 {
        return json!({});
    }
    match value {
        Value::Array(items) => items.iter().map(|item| simplified(whole, item, levels_left - 1)).collect(),
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let target = whole.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default();
                simplified(whole, &target, levels_left - 1)
            }
            None => object(whole, members, levels_left - 1),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn object(whole: &Value, members: &Map<String, Value>, levels_left: usize) -> Value {
    // Of alternatives the first is what is answered unless a header asks for another.
    if let Some(first) = members.get("oneOf").and_then(Value::as_array).and_then(|variants| variants.first()) {
        return simplified(whole, first, levels_left);
    }
    let mut simple = Map::new();
    for (key, value) in members {
        match (key.as_str(), value) {
            // Not every importer has regular expressions, and the service checks anyway.
            ("pattern", Value::String(_)) => {}
            // Examples are data, not schemas.
            ("example", _) => {
                simple.insert(key.clone(), value.clone());
            }
            ("type", Value::Array(types)) => {
                let known = types.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
                simple.insert(key.clone(), known);
                simple.insert("nullable".to_owned(), true.into());
            }
            ("description", Value::String(text)) => {
                simple.insert(key.clone(), shortened(text).into());
            }
            _ => {
                simple.insert(key.clone(), simplified(whole, value, levels_left));
            }
        }
    }
    Value::Object(simple)
}

/// Cuts a text at the last sentence that fits.
fn shortened(text: &str) -> String {
    if text.chars().count() <= DESCRIPTION_CHARS_MAX {
        return text.to_owned();
    }
    let fitting: String = text.chars().take(DESCRIPTION_CHARS_MAX).collect();
    match fitting.rfind(". ") {
        Some(end) => fitting.get(..=end).unwrap_or(&fitting).to_owned(),
        None => fitting,
    }
}
