//! What a caller asks for, and what it gets.

use std::fmt;
use std::sync::Arc;

use super::precondition::Precondition;
use crate::domain::{Operation, Outcome, TaskList, ThreadKey};
use crate::store::AnswerKey;

/// What a caller wants changed.
#[derive(Debug, Clone)]
pub struct ChangeRequest {
    /// Whose list.
    pub key: ThreadKey,
    /// What to do.
    pub operation: Operation,
    /// What must hold, judged again each time the operation is applied.
    pub precondition: Option<Precondition>,
    /// The lease token that the caller shows.
    pub token: Option<Arc<str>>,
    /// How to know this call again if it is repeated.
    pub retry: Option<Retry>,
}

impl ChangeRequest {
    /// Asks for an operation, unconditionally and with nothing to show.
    #[must_use]
    pub fn new(key: ThreadKey, operation: Operation) -> Self {
        Self { key, operation, precondition: None, token: None, retry: None }
    }

    /// Tells whether it may be decided on what is remembered of a list: it needs neither the database's clock, nor a kept
    /// answer, nor changes.
    pub(super) fn may_be_guessed(&self) -> bool {
        let needs_more_than_the_list = match self.operation {
            Operation::Claim(_)
            | Operation::Heartbeat { .. }
            | Operation::Release { .. }
            | Operation::Expire
            | Operation::DeleteThread
            | Operation::Restore { .. } => true,
            Operation::Write(_)
            | Operation::Update { .. }
            | Operation::Complete(_)
            | Operation::Create { .. }
            | Operation::Delete(_)
            | Operation::Clear => false,
        };
        self.retry.is_none() && !needs_more_than_the_list
    }

    /// Tells whether it may be one commit with others.
    pub(super) fn may_share(&self) -> bool {
        let needs_more_than_the_list = matches!(self.operation, Operation::DeleteThread | Operation::Restore { .. });
        self.retry.is_none() && !needs_more_than_the_list
    }
}

/// How a call is known again when it is repeated, and how its answer is written down.
#[derive(Clone)]
pub struct Retry {
    /// Under what the answer is kept.
    pub key: AnswerKey,
    /// Tells this call from another one under the same key.
    pub fingerprint: String,
    /// Writes the answer down as the edge will want it back.
    pub write_down: Arc<dyn Fn(&Done) -> String + Send + Sync>,
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("key", &self.key).field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// What a change did.
#[derive(Debug, Clone)]
pub struct Done {
    /// The list as this change left it.
    pub list: TaskList,
    /// Whether any reader sees a difference.
    pub changed: bool,
    /// What it did besides.
    pub outcome: Outcome,
}

/// How a call was answered.
#[derive(Debug, Clone)]
pub enum Answered {
    /// It was done now.
    Fresh(Box<Done>),
    /// It was done before; this is the answer that was written down then.
    Replayed(String),
}
