//! A store that is never there.

use async_trait::async_trait;
use tasklane::domain::{Change, Moment, Revision, ThreadKey, Version};
use tasklane::store::{AnswerKey, Commit, Committed, ListStore, Loaded, StoreError, ThreadEntry, ThreadQuery};

/// A store that is never there.
#[derive(Debug)]
pub(crate) struct FailingStore;

fn gone<T>() -> Result<T, StoreError> {
    Err(StoreError::Unavailable(sqlx::Error::PoolTimedOut))
}

#[async_trait]
impl ListStore for FailingStore {
    async fn load(&self, _: &ThreadKey, _: Option<&AnswerKey>) -> Result<Loaded, StoreError> {
        gone()
    }

    async fn commit(&self, _: &Commit) -> Result<Committed, StoreError> {
        gone()
    }

    async fn contains(&self, _: &ThreadKey, _: Version) -> Result<bool, StoreError> {
        gone()
    }

    async fn changes(&self, _: &ThreadKey, _: Revision, _: u32) -> Result<Vec<Change>, StoreError> {
        gone()
    }

    async fn forget_changes(&self, _: &ThreadKey, _: Revision) -> Result<(), StoreError> {
        gone()
    }

    async fn forget_older(&self, _: Moment, _: Moment, _: u32) -> Result<u64, StoreError> {
        gone()
    }

    async fn threads(&self, _: &ThreadQuery) -> Result<Vec<ThreadEntry>, StoreError> {
        gone()
    }

    async fn ping(&self) -> Result<(), StoreError> {
        gone()
    }

    async fn close(&self) {}
}
