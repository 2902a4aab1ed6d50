//! Stores that do wrong in ways that a careless hand could bring about, and an honest one on a bad line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tasklane::domain::{Change, Moment, Revision, Task, TaskList, ThreadKey, Version};
use tasklane::store::{
    AnswerKey, Commit, Committed, ListStore, Loaded, Refreshed, StoreError, ThreadEntry, ThreadQuery,
};
use tokio::time::{Instant, sleep};

use super::dice::Dice;

/// How long a stale cache believes what it once saw.
const STALE: Duration = Duration::from_millis(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// Does what it should, although the line breaks now and then in the middle of a commit.
    None,
    /// Commits under the version that is the newest now, whatever was read.
    FreshVersion,
    /// Keeps answers in a transaction of their own, after the change.
    KeyApart,
    /// Keeps answers in a transaction of their own, before the change.
    KeyAhead,
    /// Says of commits whose outcome is unknown that they did not happen.
    BlindRetry,
    /// Loads the list and its tasks from both sides of a commit.
    TornLoad,
    /// Answers with what it saw a moment ago.
    StaleCache,
    /// Confirms a version because it was confirmed a moment ago.
    StaleCheck,
}

/// A store as one process has it.
#[derive(Debug)]
pub(crate) struct Sabotaged {
    store: Arc<dyn ListStore>,
    how: Sabotage,
    dice: Mutex<Dice>,
    cache: Mutex<HashMap<ThreadKey, (Instant, Loaded)>>,
}

impl Sabotaged {
    pub(crate) fn new(store: Arc<dyn ListStore>, how: Sabotage, seed: u64) -> Self {
        Self { store, how, dice: Mutex::new(Dice::new(seed)), cache: Mutex::default() }
    }

    fn has(&self, percent: usize) -> bool {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).has(percent)
    }

    /// Commits over a bad line.
    async fn attempt(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let unknown = || StoreError::Unknown(sqlx::Error::WorkerCrashed);
        if self.has(2) {
            return Err(unknown());
        }
        let committed = self.store.commit(commit).await?;
        if self.has(8) { Err(unknown()) } else { Ok(committed) }
    }

    async fn load_torn(&self, key: &ThreadKey, kept: Option<&AnswerKey>) -> Result<Loaded, StoreError> {
        let first = self.store.load(key, kept).await?;
        sleep(Duration::from_millis(1)).await;
        let second = self.store.load(key, kept).await?;
        let (list, tasks) = (&second.list, first.list.tasks().to_vec());
        let list = restored(list, list.revision(), tasks);
        Ok(Loaded { list, ..second })
    }

    async fn load_stale(&self, key: &ThreadKey) -> Result<Loaded, StoreError> {
        let cached = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if let Some((_, loaded)) = cached.filter(|(at, _)| at.elapsed() < STALE) {
            return Ok(loaded);
        }
        let loaded = self.store.load(key, None).await?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(key.clone(), (Instant::now(), loaded.clone()));
        Ok(loaded)
    }

    /// Believes the last answer for a moment.
    async fn refresh_stale(&self, key: &ThreadKey, known: Version) -> Result<Refreshed, StoreError> {
        let loaded = self.load_stale(key).await?;
        let is_same = loaded.version == Some(known);
        Ok(if is_same { Refreshed::Same { at: loaded.at } } else { Refreshed::Other(loaded) })
    }

    async fn commit_to_newest(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let newest = self.store.load(&commit.key, None).await?;
        let base = commit.list.revision().get() - i64::try_from(commit.changes.len()).unwrap_or(0);
        let shift = newest.list.revision().get() - base;
        let moved = |revision: Revision| Revision::new(revision.get() + shift);
        let changes = commit.changes.iter().map(|change| Change { revision: moved(change.revision), ..change.clone() });
        let rebased = Commit {
            expected: newest.version,
            changes: changes.collect(),
            list: restored(&commit.list, moved(commit.list.revision()), commit.list.tasks().to_vec()),
            ..commit.clone()
        };
        self.store.commit(&rebased).await
    }

    async fn commit_in_two(&self, commit: &Commit, is_answer_first: bool) -> Result<Committed, StoreError> {
        if commit.answers.is_empty() || commit.changes.is_empty() {
            return self.store.commit(commit).await;
        }
        let change = Commit { answers: Vec::new(), ..commit.clone() };
        if is_answer_first {
            self.keep_answers(commit).await?;
            sleep(Duration::from_millis(2)).await;
            let expected = self.store.load(&commit.key, None).await?.version;
            return self.store.commit(&Commit { expected, ..change }).await;
        }
        let committed = self.store.commit(&change).await?;
        sleep(Duration::from_millis(2)).await;
        if committed == Committed::Done {
            self.keep_answers(commit).await?;
        }
        Ok(committed)
    }

    async fn keep_answers(&self, commit: &Commit) -> Result<(), StoreError> {
        let now = self.store.load(&commit.key, None).await?;
        let answers = Commit {
            expected: now.version,
            version: Version::new(commit.version.get().wrapping_add(1)),
            list: now.list,
            upserts: Vec::new(),
            removals: Vec::new(),
            changes: Vec::new(),
            ..commit.clone()
        };
        self.store.commit(&answers).await.map(drop)
    }
}

fn restored(list: &TaskList, revision: Revision, tasks: Vec<Arc<Task>>) -> TaskList {
    TaskList::restored(revision, list.change_id(), list.deleted_at_revision(), list.counters(), tasks)
        .expect("ids that differ")
}

hands_on_the_feed!(Sabotaged);

#[async_trait]
impl ListStore for Sabotaged {
    async fn load(&self, key: &ThreadKey, kept: Option<&AnswerKey>) -> Result<Loaded, StoreError> {
        match self.how {
            Sabotage::TornLoad => self.load_torn(key, kept).await,
            Sabotage::StaleCache if kept.is_none() => self.load_stale(key).await,
            _ => self.store.load(key, kept).await,
        }
    }

    async fn refresh(&self, key: &ThreadKey, known: Version) -> Result<Refreshed, StoreError> {
        match self.how {
            Sabotage::StaleCache | Sabotage::StaleCheck => self.refresh_stale(key, known).await,
            _ => self.store.refresh(key, known).await,
        }
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        match self.how {
            Sabotage::None | Sabotage::BlindRetry => self.attempt(commit).await,
            Sabotage::FreshVersion => self.commit_to_newest(commit).await,
            Sabotage::KeyApart => self.commit_in_two(commit, false).await,
            Sabotage::KeyAhead => self.commit_in_two(commit, true).await,
            Sabotage::TornLoad | Sabotage::StaleCache | Sabotage::StaleCheck => self.store.commit(commit).await,
        }
    }

    async fn contains(&self, key: &ThreadKey, version: Version) -> Result<bool, StoreError> {
        match self.how {
            Sabotage::BlindRetry => Ok(false),
            _ => self.store.contains(key, version).await,
        }
    }

    async fn changes(&self, key: &ThreadKey, after: Revision, limit: u32) -> Result<Vec<Change>, StoreError> {
        self.store.changes(key, after, limit).await
    }

    async fn forget_changes(&self, key: &ThreadKey, up_to: Revision) -> Result<(), StoreError> {
        self.store.forget_changes(key, up_to).await
    }

    async fn forget_older(&self, changes: Moment, answers: Moment, limit: u32) -> Result<u64, StoreError> {
        self.store.forget_older(changes, answers, limit).await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadEntry>, StoreError> {
        self.store.threads(query).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.store.ping().await
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
