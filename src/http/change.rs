//! The ways from a request to the service and back.

use std::sync::Arc;
use std::time::Duration;

use super::answer::{Answer, Shape};
use super::call::Call;
use super::code::Code;
use super::problem::{Cause, Problem};
use super::state::App;
use crate::domain::{Json, Operation, TaskList, ThreadId};
use crate::service::{self, Answered, ChangeRequest, Done, Retry, Target};
use crate::tool_call::{self, Repeat};
use crate::toolset::HistoryAsk;

/// What a request wants changed.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// Whose state its conditions are about.
    pub(super) target: Target,
    /// What to do.
    pub(super) operation: Operation,
    /// What the answer shows.
    pub(super) shape: Shape,
    /// The body, which tells this call from another one under the same key.
    pub(super) body: Option<&'a Json>,
}

impl Change<'_> {
    /// Asks for an operation on the whole list, without a body.
    pub(super) fn of_list(operation: Operation, shape: Shape) -> Self {
        Self { target: Target::List, operation, shape, body: None }
    }
}

impl App {
    /// Returns a list as it is.
    ///
    /// # Errors
    /// The service does not answer.
    pub(super) async fn read(&self, call: &Call, thread: &ThreadId, target: &Target) -> Result<TaskList, Problem> {
        let list = self.lists.read(&call.caller, &call.thread(thread)).await;
        list.map_err(|error| Problem::of_service(error, target))
    }

    /// Returns the list as soon as it has changed, or as it is when the time is over.
    ///
    /// # Errors
    /// The service does not answer.
    pub(super) async fn wait(
        &self,
        call: &Call,
        thread: &ThreadId,
        seen: &TaskList,
        wait: Duration,
    ) -> Result<TaskList, Problem> {
        call.patience.grant(wait);
        let list = self.lists.wait(&call.caller, &call.thread(thread), seen.revision(), wait).await;
        list.map_err(|error| Problem::of_service(error, &Target::List))
    }

    /// Changes a list and answers with what was done, now or when the same call came before.
    ///
    /// # Errors
    /// A header is malformed, a condition fails, or the service refuses or does not answer.
    pub(super) async fn change(&self, call: &Call, thread: &ThreadId, change: Change<'_>) -> Result<Answer, Problem> {
        let Change { target, operation, shape, body } = change;
        let answer = {
            let (operation, thread) = (operation.clone(), thread.clone());
            move |done: &Done| Answer::of_change(shape, &operation, &thread, done)
        };
        let repeat = call.repeat(&format!("rest/{}", operation.name()), &target, body);
        let is_repeatable = repeat.is_some();
        let request = ChangeRequest {
            key: call.thread(thread),
            precondition: call.precondition(&target)?,
            token: call.token.clone(),
            retry: repeat.map(|repeat| retry(repeat, answer.clone())),
            operation,
        };
        match self.lists.change(&call.caller, request).await {
            Ok(Answered::Fresh(done)) => Ok(answer(&done)),
            Ok(Answered::Replayed(text)) => {
                Answer::replayed(&text).map_err(|error| Problem::internal(Cause::new(&error.to_string())))
            }
            // The first of two equal calls may still be running.
            Err(service::Error::Busy) if is_repeatable => Err(Problem::new(Code::KeyInUse)),
            Err(error) => Err(Problem::of_service(error, &target)),
        }
    }

    /// Answers with what changed.
    ///
    /// # Errors
    /// The service does not answer.
    pub(super) async fn history(&self, call: &Call, thread: &ThreadId, ask: HistoryAsk) -> Result<Answer, Problem> {
        let told = tool_call::history(&self.lists, &call.caller, &call.thread(thread), ask).await;
        told.map(Answer::tool).map_err(Problem::from)
    }
}

fn retry(repeat: Repeat, answer: impl Fn(&Done) -> Answer + Send + Sync + 'static) -> Retry {
    let write_down = Arc::new(move |done: &Done| answer(done).written_down());
    Retry { key: repeat.key, fingerprint: repeat.fingerprint, write_down }
}
