//! The tools of agents over plain HTTP: calling them, and their schemas.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::answer::Answer;
use super::call::Call;
use super::code::Code;
use super::extract::{OptionalBody, ToolPath};
use super::headers::{CallerHeaders, RetryHeaders, TokenHeader, WriteHeaders};
use super::problem::Problem;
use super::query::{NoQuery, ToolsQuery};
use super::state::App;
use super::wire::{ToolResultOut, ToolsOut};
use crate::service::{self, Target};
use crate::tool_call::{self, ToolCall};
use crate::toolset::{self, export};

/// Call a tool
///
/// Calls any tool of any toolset in a thread; the body is its arguments. What an agent can mend is answered with 200 and
/// `isError` true.
#[utoipa::path(post, path = "/threads/{thread_id}/tools/{tool_name}", tag = "tools",
    params(ToolPath, CallerHeaders, WriteHeaders, TokenHeader, RetryHeaders),
    request_body(content = Object, description = "The tool's arguments; may be left out where it needs none",
        example = json!({})),
    responses((status = OK, description = "The tool's result, refusals included", body = ToolResultOut,
        headers(("ETag" = String, description = "The list's version"))))
)]
pub(super) async fn tool_call(
    State(app): State<App>,
    at: ToolPath,
    _: NoQuery,
    call: Result<Call, Problem>,
    arguments: Result<OptionalBody, Problem>,
) -> Result<Answer, Problem> {
    let tool = toolset::find(&at.tool_name).ok_or_else(|| Problem::new(Code::UnknownTool))?;
    let call = match call {
        Ok(call) => call,
        Err(problem) if problem.code() == Code::ResourceRequired => {
            return Ok(Answer::tool_failed(tool, problem.sentence()));
        }
        Err(problem) => return Err(problem),
    };
    let arguments = match arguments.map_err(Problem::into_invalid) {
        Ok(OptionalBody(arguments)) => arguments,
        // It is JSON, so that the agent which wrote it can mend it.
        Err(Ok(invalid)) => {
            let key = call.thread(&at.thread_id);
            return Ok(Answer::tool(tool_call::misunderstood(&app.lists, &call.caller, &key, tool, &invalid).await?));
        }
        Err(Err(problem)) => return Err(problem),
    };
    let call = if tool.hints.read_only { call.without_none_match() } else { call };
    let precondition = call.precondition(&Target::List)?;
    let repeat = call.repeat(&format!("tool/{}", tool.name), &Target::List, arguments.as_ref());
    let is_repeatable = repeat.is_some() && !tool.hints.read_only;
    let arguments = arguments.as_ref();
    let token = call.token.clone();
    if tool.name == "task_wait" {
        call.patience.grant(tool_call::WAIT_MAX);
    }
    let asked = ToolCall { tool, thread: at.thread_id, arguments, precondition, token, repeat };
    match tool_call::run(&app.lists, &call.caller, asked).await {
        Ok(answer) => Ok(Answer::tool(answer)),
        // The first of two equal calls may still be running.
        Err(tool_call::Error::Service(service::Error::Busy)) if is_repeatable => Err(Problem::new(Code::KeyInUse)),
        Err(error) => Err(error.into()),
    }
}

/// List the tools
///
/// Shows the tools' schemas in the format of the interface that will carry them.
#[utoipa::path(get, path = "/tools", tag = "tools", params(ToolsQuery),
    responses((status = OK, description = "The tools", body = ToolsOut)))]
pub(super) async fn tool_list(query: ToolsQuery) -> Response {
    let document = export::document(query.toolset, query.format);
    ([(CONTENT_TYPE, "application/json")], document.to_string()).into_response()
}
