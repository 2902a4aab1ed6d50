//! A call on its way to its answer.

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Error;
use super::change::{Answered, ChangeRequest};
use crate::domain::Actor;

/// One call in a queue.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) actor: Actor,
    pub(super) request: ChangeRequest,
    /// When the call is given up.
    pub(super) deadline: Instant,
    /// Where the caller waits, if it still does: a call that was taken in is done whether or not anybody waits.
    pub(super) reply: oneshot::Sender<Result<Answered, Error>>,
}

impl Ticket {
    pub(super) fn may_share(&self) -> bool {
        self.request.may_share()
    }
}
