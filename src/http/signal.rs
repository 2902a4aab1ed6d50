//! What an agent runtime puts into an agent's context.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use utoipa::IntoParams;

use super::answer::Answer;
use super::events::revision;
use super::extract::ThreadPath;
use super::headers::CallerHeaders;
use super::problem::Problem;
use super::query::Params;
use super::state::App;
use crate::domain::Revision;
use crate::service::{Caller, Known, Target};
use crate::toolset::signal::{Base, Signal, signal};

/// What the agent knows already.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SignalQuery {
    /// The revision of the last signal; leave it out if there was none.
    #[param(value_type = Option<i64>, nullable = false, required = false, minimum = 0, example = 0)]
    after: Option<Revision>,
    /// How many deltas the agent was told in a row; at ten it is told the whole list.
    #[param(nullable = false, required = false, minimum = 0, default = 0, example = 0)]
    deltas: u32,
    /// The most bytes of the text.
    #[param(value_type = Option<u32>, nullable = false, required = false, minimum = 0, example = 4000)]
    #[param(rename = "maxBytes")]
    bytes_max: Option<usize>,
}

impl FromRequestParts<App> for SignalQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut params = Params::of(&parts.uri)?;
        // As the document has it: what fits in 32 bits with a sign.
        let number = |text: &str| match text.parse::<u32>() {
            Ok(number @ 0..=0x7fff_ffff) => Ok(number),
            _ => Err("must be an integer from 0 to 2147483647".to_owned()),
        };
        let after = params.take("after", revision);
        let deltas = params.take("deltas", number).unwrap_or_default();
        let bytes_max = params.take("maxBytes", number).map(|bytes| bytes as usize);
        params.close("after, deltas and maxBytes")?;
        Ok(Self { after, deltas, bytes_max })
    }
}

/// Get the state signal
///
/// Says what an agent that knows the list at a revision has to be told: nothing (`none`), what changed (`delta`), or the
/// whole list (`snapshot`), as a text for its context. It looks only at id, content, status and activeForm.
#[utoipa::path(get, path = "/threads/{thread_id}/signal", tag = "live", params(ThreadPath, SignalQuery, CallerHeaders),
    responses((status = OK, description = "What to tell the agent", body = Signal<'static>))
)]
pub(super) async fn task_signal(
    State(app): State<App>,
    at: ThreadPath,
    query: SignalQuery,
    caller: Caller,
) -> Result<Answer, Problem> {
    let key = caller.thread(at.thread_id);
    let since = app.lists.since(&caller, &key, query.after).await;
    let (list, known) = since.map_err(|error| Problem::of_service(error, &Target::List))?;
    let base = match &known {
        Known::Nothing => Base::Missing,
        Known::NotKept => Base::Unknown,
        Known::Tasks(tasks) => Base::Known(tasks),
    };
    Ok(Answer::ok(None, &signal(&list, base, query.deltas, query.bytes_max)))
}
