//! What the `type` of a problem leads to.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::code::Code;
use super::extract::CodePath;
use super::problem::Problem;
use super::wire::ProblemKindOut;
use crate::json::to_text;

/// Explain a problem
///
/// Shows what a problem's code means; a problem's `type` leads here.
#[utoipa::path(get, path = "/problems/{code}", tag = "documents", params(CodePath),
    responses((status = OK, description = "What the code means", body = ProblemKindOut)))]
pub(super) async fn problem_get(at: CodePath) -> Result<Response, Problem> {
    let code = Code::parse(&at.code).ok_or_else(|| Problem::new(Code::UnknownCode))?;
    Ok(([(CONTENT_TYPE, "application/json")], to_text(&ProblemKindOut::of(code))).into_response())
}
