//! Queries, read strictly: a parameter that is misspelt would otherwise widen what is answered without anybody noticing.

use axum::extract::FromRequestParts;
#[expect(clippy::disallowed_types, reason = "it only splits the query here; what it says is judged below")]
use axum::extract::Query;
use axum::http::Uri;
use axum::http::request::Parts;
use utoipa::{IntoParams, ToSchema};

use super::code::Code;
use super::cursor;
use super::problem::Problem;
use super::state::App;
use super::wire::{FormatIn, ToolsetIn};
use crate::domain::{Filter, Owner, Revision, Status, TaskId};
use crate::store::ThreadPlace;
use crate::toolset::HistoryAsk;
use crate::toolset::arguments::{Fault, Invalid};
use crate::toolset::export::{Format, Selection};

/// How many threads a page has if nobody says so.
const THREADS_DEFAULT: u32 = 50;
/// The most threads of a page.
const THREADS_MAX: u32 = 200;

/// The parameters of a query that were not asked for yet, and what is wrong with those that were.
pub(super) struct Params {
    rest: Vec<(String, String)>,
    faults: Vec<Fault>,
}

impl Params {
    #[expect(clippy::disallowed_types, reason = "it only splits the query here; what it says is judged below")]
    pub(super) fn of(uri: &Uri) -> Result<Self, Problem> {
        match Query::<Vec<(String, String)>>::try_from_uri(uri) {
            Ok(Query(rest)) => Ok(Self { rest, faults: Vec::new() }),
            Err(_) => Err(Problem::at(Code::InvalidQuery, "/query", "cannot be read")),
        }
    }

    fn fault(&mut self, name: &str, message: String) {
        self.faults.push(Fault { pointer: format!("/query/{name}"), message });
    }

    /// Returns the parameter of this name, parsed.
    pub(super) fn take<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let at = self.rest.iter().position(|(key, _)| key == name)?;
        let (_, text) = self.rest.remove(at);
        match parse(&text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.fault(name, message);
                None
            }
        }
    }

    /// Refuses what nobody asked for, and all that was found wrong; `known` are the names of all parameters.
    pub(super) fn close(mut self, known: &str) -> Result<(), Problem> {
        for (name, _) in std::mem::take(&mut self.rest) {
            let message = if known.is_empty() {
                "is unknown: this operation takes no parameters".to_owned()
            } else {
                format!("is unknown here or given twice; the parameters are {known}")
            };
            self.fault(&name, message);
        }
        if self.faults.is_empty() {
            return Ok(());
        }
        Err(Problem::invalid(Code::InvalidQuery, Invalid { faults: self.faults, ..Invalid::default() }))
    }
}

/// No query at all.
#[derive(Debug)]
pub struct NoQuery;

impl FromRequestParts<App> for NoQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Params::of(&parts.uri)?.close("").map(|()| Self)
    }
}

/// A status.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it only describes")]
enum StatusIn {
    Pending,
    InProgress,
    Completed,
}

/// Which tasks of a list are asked for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TasksQuery {
    /// Only tasks with this status: `pending`, `in_progress` or `completed`.
    #[param(value_type = Option<StatusIn>, inline, nullable = false, required = false, example = "pending")]
    pub status: Option<Status>,
    /// Only tasks of this owner; empty: only tasks that nobody owns.
    #[param(value_type = Option<String>, nullable = false, required = false, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$", allow_reserved, example = "researcher")]
    pub owner: Option<Option<Owner>>,
    /// Only tasks that can be begun now (pending, unowned, no open blocker), or only those that cannot.
    #[param(nullable = false, required = false, example = true)]
    pub ready: Option<bool>,
}

impl TasksQuery {
    /// Returns the filter that is asked for.
    #[must_use]
    pub fn into_filter(self) -> Filter {
        Filter { status: self.status, owner: self.owner, ready: self.ready }
    }
}

impl FromRequestParts<App> for TasksQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut params = Params::of(&parts.uri)?;
        let status = params.take("status", |text| {
            Status::parse(text).ok_or_else(|| "must be pending, in_progress or completed".to_owned())
        });
        let owner = params.take("owner", |text| match text {
            "" => Ok(None),
            _ => Owner::parse(text).map(Some).map_err(|fault| fault.to_string()),
        });
        let ready = params.take("ready", |text| text.parse().map_err(|_| "must be true or false".to_owned()));
        params.close("status, owner and ready")?;
        Ok(Self { status, owner, ready })
    }
}

/// Which changes are asked for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Only changes after this revision; from the oldest that is kept if left out.
    #[param(nullable = false, required = false, minimum = 0, default = 0, example = 0)]
    pub after: i64,
    /// The most changes to answer with.
    #[param(nullable = false, required = false, minimum = 1, maximum = 100, default = 20, example = 20)]
    pub limit: usize,
    /// Only changes that touched this task.
    #[param(value_type = Option<String>, nullable = false, required = false, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", example = "task_write_the_report")]
    pub id: Option<TaskId>,
}

impl HistoryQuery {
    /// Returns what is asked for.
    #[must_use]
    pub fn into_ask(self) -> HistoryAsk {
        HistoryAsk { after: Revision::new(self.after), limit: self.limit, task: self.id }
    }
}

impl FromRequestParts<App> for HistoryQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut params = Params::of(&parts.uri)?;
        let after = params.take("after", |text| match text.parse() {
            Ok(after @ 0..) => Ok(after),
            _ => Err("must be a revision, an integer from 0 on".to_owned()),
        });
        let limit = params.take("limit", |text| match text.parse() {
            Ok(limit @ 1..=100) => Ok(limit),
            _ => Err("must be an integer from 1 to 100".to_owned()),
        });
        let id = params.take("id", |text| TaskId::parse(text).map_err(|fault| fault.to_string()));
        params.close("after, limit and id")?;
        Ok(Self { after: after.unwrap_or(0), limit: limit.unwrap_or(20), id })
    }
}

/// Which threads are asked for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ThreadsQuery {
    /// Where to begin: `nextCursor` of the page before; empty: from the start.
    #[param(value_type = Option<String>, nullable = false, required = false, example = "")]
    pub cursor: Option<ThreadPlace>,
    /// The most threads to answer with.
    #[param(nullable = false, required = false, minimum = 1, maximum = 200, default = 50, example = 50)]
    pub limit: u32,
}

impl FromRequestParts<App> for ThreadsQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut params = Params::of(&parts.uri)?;
        let cursor = params.take("cursor", |text| match text {
            "" => Ok(None),
            _ => cursor::parse(text).map(Some).ok_or_else(|| "is not a cursor that this service gave out".to_owned()),
        });
        let limit = params.take("limit", |text| match text.parse() {
            Ok(limit @ 1..=THREADS_MAX) => Ok(limit),
            _ => Err(format!("must be an integer from 1 to {THREADS_MAX}")),
        });
        params.close("cursor and limit")?;
        Ok(Self { cursor: cursor.flatten(), limit: limit.unwrap_or(THREADS_DEFAULT) })
    }
}

/// Which tools are asked for, and in which format.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ToolsQuery {
    /// Whose tools; all if not given.
    #[param(value_type = Option<ToolsetIn>, inline, nullable = false, required = false, example = "mastra")]
    pub toolset: Selection,
    /// In whose format; the Model Context Protocol's if not given.
    #[param(value_type = Option<FormatIn>, inline, nullable = false, required = false, example = "openai")]
    pub format: Format,
}

impl FromRequestParts<App> for ToolsQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut params = Params::of(&parts.uri)?;
        let toolset = params.take("toolset", |text| {
            Selection::parse(text).ok_or_else(|| "must be all, mastra, agentscope or coordination".to_owned())
        });
        let format = params.take("format", |text| {
            let names = Format::ALL.map(Format::as_str).join(", ");
            Format::parse(text).ok_or_else(|| format!("must be one of {names}"))
        });
        params.close("toolset and format")?;
        Ok(Self { toolset: toolset.unwrap_or(Selection::All), format: format.unwrap_or(Format::Mcp) })
    }
}
