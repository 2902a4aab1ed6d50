//! What an agent is told where the service has no answer. The causes are for the log.

use crate::domain::TaskList;
use crate::service;
use crate::store::StoreError;
use crate::tool_call;
use crate::toolset::refusal_text;

/// Why there is no answer, in one sentence for an agent, and the list if it is known.
pub(super) fn sentence(error: &tool_call::Error) -> (String, Option<&TaskList>) {
    match error {
        tool_call::Error::Service(error) => of_service(error),
        tool_call::Error::Replay(_) => (INTERNAL.to_owned(), None),
    }
}

const INTERNAL: &str = "The service failed. It may or may not have done this: look at the list before you try again.";

/// Why the service did not answer, in one sentence for an agent, and the list if it is known.
pub(super) fn of_service(error: &service::Error) -> (String, Option<&TaskList>) {
    let text = match error {
        service::Error::Refused { refusal, list } => return (refusal_text::sentence(refusal), Some(list)),
        service::Error::PreconditionFailed { list } => {
            let text = "The list has changed since you saw it. Nothing was changed. Go by the list as it is now.";
            return (text.to_owned(), Some(list));
        }
        service::Error::KeyReused => {
            "The idempotency key was used for another call. Nothing was changed. Give each call its own key."
        }
        service::Error::Forbidden => "You may not do this. Nothing was changed.",
        service::Error::Busy => {
            "Others were changing the list all the time. Nothing was changed. Try again in a moment."
        }
        service::Error::Store(error) if matches!(**error, StoreError::Unknown(_) | StoreError::Corrupt { .. }) => {
            INTERNAL
        }
        service::Error::Store(_) => {
            "The task list cannot be reached at the moment. Nothing is known to have changed. Try again later."
        }
        service::Error::Undecided | service::Error::Stopped => INTERNAL,
    };
    (text.to_owned(), None)
}

/// Writes down why there was no answer, once, for those who run the service.
pub(super) fn log(error: &tool_call::Error) {
    if matches!(
        error,
        tool_call::Error::Replay(_)
            | tool_call::Error::Service(service::Error::Store(_) | service::Error::Undecided | service::Error::Stopped)
    ) {
        tracing::error!(error = error as &dyn std::error::Error, "a tool call has no answer");
    }
}
