//! The two ways from a request to the service and back.

use super::answer::{Answer, Shape};
use super::call::Call;
use super::problem::{Cause, Problem};
use super::state::App;
use crate::domain::{Operation, TaskList, ThreadId};
use crate::service::{Answered, ChangeRequest, Target};

impl App {
    /// Returns a list as it is, unless the caller has it already: then the answer says so.
    ///
    /// # Errors
    /// A header is malformed, a condition fails, or the service does not answer.
    pub(super) async fn read(&self, call: &Call, thread: &ThreadId, target: &Target) -> Result<TaskList, Problem> {
        let list = self.lists.read(&call.caller, &call.thread(thread)).await;
        list.map_err(|error| Problem::of_service(error, target))
    }

    /// Changes a list and answers with what was done.
    ///
    /// # Errors
    /// A header is malformed, a condition fails, or the service refuses or does not answer.
    pub(super) async fn change(
        &self,
        call: &Call,
        thread: &ThreadId,
        target: Target,
        operation: Operation,
        shape: Shape,
    ) -> Result<Answer, Problem> {
        let request = ChangeRequest {
            key: call.thread(thread),
            operation: operation.clone(),
            precondition: call.precondition(&target)?,
            token: None,
            retry: None,
        };
        match self.lists.change(&call.caller, request).await {
            Ok(Answered::Fresh(done)) => Ok(Answer::of_change(shape, &operation, thread, &done)),
            Ok(Answered::Replayed(text)) => {
                Answer::replayed(&text).map_err(|error| Problem::internal(Cause::new(&error.to_string())))
            }
            Err(error) => Err(Problem::of_service(error, &target)),
        }
    }
}
