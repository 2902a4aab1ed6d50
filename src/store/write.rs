//! Commits, stored many at a time: whatever waits when a connection is free becomes one transaction.
//!
//! Each happens or not, whatever becomes of the others: a conflict is found for each alone, and what the database does not
//! take together it is given one by one.

use std::collections::{HashSet, VecDeque};

use sqlx::Database;
use tokio::sync::oneshot;

use super::queue::Job;
use super::{Committed, StoreError};
use crate::domain::ThreadKey;

/// The most commits of one transaction. With more of them, looking each up among the others begins to cost more than another
/// journey.
const COMMITS_MAX: usize = 64;
/// After so many bytes no further commit is added to a transaction.
const BYTES_MAX: usize = 1024 * 1024;

/// A commit in the form that a database is given it.
pub(super) trait Storable: Sized + Send + Sync + 'static {
    /// The database.
    type In: Database;

    /// Returns whose list it changes.
    fn key(&self) -> &ThreadKey;

    /// Returns about how many bytes it holds.
    fn size_bytes(&self) -> usize;

    /// Stores commits of different threads in one transaction and answers in their order. After an error none has happened,
    /// or nobody knows.
    fn store(
        connection: &mut <Self::In as Database>::Connection,
        commits: &[Self],
    ) -> impl Future<Output = Result<Vec<Committed>, StoreError>> + Send;

    /// Tells whether the database took offence at what one commit holds, which the others need not suffer for.
    fn is_about_data(error: &StoreError) -> bool;
}

/// A wish to store one commit.
#[derive(Debug)]
pub(super) struct Write<C> {
    pub(super) commit: C,
    pub(super) reply: Reply,
}

type Reply = oneshot::Sender<Result<Committed, StoreError>>;

impl<C: Storable> Job<C::In> for Write<C> {
    const BATCH_MAX: usize = COMMITS_MAX;

    /// Takes commits of different threads. A second one of a thread keeps its turn.
    fn take(waiting: &mut VecDeque<Self>) -> Vec<Self> {
        let mut threads: HashSet<ThreadKey> = HashSet::new();
        let (mut batch, mut passed_over, mut bytes) = (Vec::new(), Vec::new(), 0);
        while batch.len() < COMMITS_MAX && bytes < BYTES_MAX {
            let Some(next) = waiting.pop_front() else { break };
            if threads.insert(next.commit.key().clone()) {
                bytes += next.commit.size_bytes();
                batch.push(next);
            } else {
                passed_over.push(next);
            }
        }
        passed_over.into_iter().rev().for_each(|next| waiting.push_front(next));
        batch
    }

    async fn work(connection: &mut <C::In as Database>::Connection, batch: Vec<Self>) -> bool {
        let (commits, replies): (Vec<C>, Vec<Reply>) =
            batch.into_iter().map(|write| (write.commit, write.reply)).unzip();
        match C::store(connection, &commits).await {
            Ok(outcomes) => {
                replies.into_iter().zip(outcomes).for_each(|(reply, outcome)| answer(reply, Ok(outcome)));
                true
            }
            Err(error) if commits.len() > 1 && C::is_about_data(&error) => {
                one_by_one(connection, commits, replies).await
            }
            Err(error) => {
                for reply in replies {
                    answer(reply, Err(error.for_another()));
                }
                is_good_after(&error)
            }
        }
    }

    fn give_up(self, error: StoreError) {
        answer(self.reply, Err(error));
    }
}

async fn one_by_one<C: Storable>(
    connection: &mut <C::In as Database>::Connection,
    commits: Vec<C>,
    replies: Vec<Reply>,
) -> bool {
    let mut is_good = true;
    for (commit, reply) in commits.into_iter().zip(replies) {
        let outcome = if is_good {
            let outcomes = C::store(connection, std::slice::from_ref(&commit)).await;
            outcomes.map(|outcomes| outcomes.first().copied().unwrap_or(Committed::Conflict))
        } else {
            Err(StoreError::Unavailable(sqlx::Error::WorkerCrashed))
        };
        is_good = is_good && outcome.as_ref().err().is_none_or(is_good_after);
        answer(reply, outcome);
    }
    is_good
}

fn is_good_after(error: &StoreError) -> bool {
    matches!(error, StoreError::Database(_))
}

fn answer(reply: Reply, outcome: Result<Committed, StoreError>) {
    // Whoever asked may be gone: what was done stays done.
    let _ = reply.send(outcome);
}
