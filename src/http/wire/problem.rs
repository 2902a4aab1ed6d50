//! Problems.

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use super::super::code::Code;
use super::{TaskOut, moment_if_any};
use crate::domain::{Moment, Owner, TaskId};
use crate::wire::choice;

/// Why a request was not answered as it wished (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "type": "/problems/unknown_task", "title": "Unknown task", "status": 404,
    "detail": "There is no task 7. The only id is 1.", "instance": "0199f0c2-6f7e-7c3e-8f57-0d9c9d3f2b11",
    "code": "unknown_task", "isError": true, "content": "There is no task 7. The only id is 1.",
    "availableTaskIds": ["1"], "revision": 4, "tasks": []
}))]
pub struct ProblemOut<'a> {
    /// Where the kind of problem is explained; the same for each problem with this code.
    #[schema(format = "uri-reference")]
    pub r#type: String,
    /// What kind of problem it is, for people.
    pub title: &'a str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What happened and what to do next.
    pub detail: &'a str,
    /// The request's id, as in the header `x-request-id` and in the log.
    pub instance: &'a str,
    /// What kind of problem it is, for programs.
    #[schema(schema_with = code)]
    pub code: Code,
    /// Always true.
    pub is_error: bool,
    /// What happened and what to do next, for an agent to read.
    pub content: &'a str,
    /// Each fault of the request by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FaultOut<'a>>,
    /// The ids there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    pub available_task_ids: Option<&'a [TaskId]>,
    /// The path of the cycle: each task blocks the next, the first is the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    pub cycle: Option<&'a [TaskId]>,
    /// Who holds the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub holder: Option<&'a Owner>,
    /// Until when it is held, if it is by a claim.
    #[serde(serialize_with = "moment_if_any", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub expires_at: Option<Moment>,
    /// The list's revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    pub revision: Option<i64>,
    /// The list's tasks, which nothing has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tasks: Option<Vec<TaskOut<'a>>>,
}

/// One fault of a request.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultOut<'a> {
    /// A JSON pointer into the body, or `/path/<name>`, `/query/<name>`, `/header/<name>`.
    #[schema(example = "/tasks/0/content")]
    pub pointer: &'a str,
    /// What is wrong there.
    #[schema(example = "must not be empty")]
    pub message: &'a str,
}

/// What a problem's code means.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemKindOut {
    /// The code.
    #[schema(schema_with = code)]
    pub code: Code,
    /// Its title.
    #[schema(example = "Unknown task")]
    pub title: &'static str,
    /// The HTTP status of answers with it.
    #[schema(minimum = 400, maximum = 599, example = 404)]
    pub status: u16,
    /// What it means and what to do about it.
    #[schema(example = "The list has no task with this id. `availableTaskIds` lists the ids there are.")]
    pub meaning: &'static str,
}

impl ProblemKindOut {
    /// Explains a code.
    #[must_use]
    pub fn of(code: Code) -> Self {
        Self { code, title: code.title(), status: code.status().as_u16(), meaning: code.meaning() }
    }
}

/// Describes a code in place.
fn code() -> Object {
    choice("What kind of problem it is, for programs.", Code::ALL.iter().map(|code| code.as_str()))
}
