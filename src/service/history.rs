//! What a list was and who changed it: reading kept changes, and forgetting old ones.

use std::time::Duration;

use chrono::TimeDelta;

use super::{Caller, Error, Lists, may};
use crate::domain::{Change, History, Op, Revision, TaskId, TaskView, ThreadKey};

/// How many changes are read at once when only some of them are wanted.
const PAGE: u32 = 200;
/// The most changes that one call looks through: a task that seldom changed must not make it endless.
const SCAN_MAX: usize = 5_000;
/// After so many changes of one list its oldest are forgotten at once.
const FORGET_EVERY: i64 = 256;
/// How often what is too old is looked for.
const FORGET_INTERVAL: Duration = Duration::from_mins(1);
/// The most rows that one statement removes, so that none holds locks for long.
const FORGET_ROWS_MAX: u32 = 1_000;

/// How long and how many changes and answers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Changes older than this are forgotten, except a list's newest.
    pub changes_age_max: Duration,
    /// Of one list, about so many of the newest changes are kept.
    pub changes_max: u32,
    /// Answers to calls with a key are kept this long.
    pub answers_age_max: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        let day = Duration::from_hours(24);
        Self { changes_age_max: 90 * day, changes_max: 10_000, answers_age_max: day }
    }
}

/// Which changes are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Only those after this revision.
    pub after: Revision,
    /// The most changes to return.
    pub limit: usize,
    /// Only those that touched this task.
    pub task: Option<TaskId>,
}

impl Lists {
    /// Returns kept changes of a list.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn history(&self, caller: &Caller, key: &ThreadKey, query: &HistoryQuery) -> Result<History, Error> {
        may(caller.scopes.read)?;
        let list = self.read(caller, key).await?;
        let revision = list.revision();
        let first = self.changes(key, Revision::default(), 1).await?.pop();
        let oldest = first.map_or(revision, |change| change.revision.previous());
        // The change that deleted the thread is kept, but nothing that it could be undone with.
        let oldest = oldest.max(list.deleted_at_revision().unwrap_or_default());
        let mut found: Vec<Change> = Vec::new();
        let (mut at, mut looked_at) = (query.after, 0);
        while found.len() < query.limit && looked_at < SCAN_MAX {
            let page = self.changes(key, at, PAGE).await?;
            let Some(last) = page.last() else { break };
            looked_at += page.len();
            at = last.revision;
            found.extend(page.into_iter().filter(|change| touches(change, query.task.as_ref())));
        }
        if found.len() > query.limit {
            found.truncate(query.limit);
            at = found.last().map_or(at, |change| change.revision);
        }
        let next_after = (at < revision && (found.len() == query.limit || looked_at >= SCAN_MAX)).then_some(at);
        Ok(History { changes: found, next_after, revision, oldest })
    }

    /// Returns a page of kept changes.
    pub(super) async fn changes(&self, key: &ThreadKey, after: Revision, limit: u32) -> Result<Vec<Change>, Error> {
        self.in_time(self.deadline(), self.0.store.changes(key, after, limit)).await
    }

    /// Forgets a list's oldest changes each time it has had some hundreds more. Its newest change is always kept.
    pub(super) fn forget_beyond_count(&self, key: &ThreadKey, changes: &[Change]) {
        let kept = i64::from(self.0.settings.retention.changes_max.max(1));
        let is_due = |change: &Change| change.revision.get() % FORGET_EVERY == 0;
        let Some(up_to) = changes.iter().rfind(|change| is_due(change)).map(|change| change.revision.get() - kept)
        else {
            return;
        };
        if up_to > 0 {
            let (lists, key) = (self.clone(), key.clone());
            tokio::spawn(async move {
                if let Err(error) = lists.0.store.forget_changes(&key, Revision::new(up_to)).await {
                    tracing::warn!(%error, "old changes of a list could not be forgotten");
                }
            });
        }
    }

    /// Forgets what is older than it is kept for, now and again every minute, until it is dropped.
    pub async fn forget_regularly(&self) {
        let mut ticks = tokio::time::interval(FORGET_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(error) = self.forget_old().await {
                tracing::warn!(%error, "old changes and answers could not be forgotten");
            }
        }
    }

    /// Forgets changes and answers that are older than they are kept for. To be called now and then, by one replica or by
    /// many.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn forget_old(&self) -> Result<(), Error> {
        let (now, retention) = (self.0.clock.now(), self.0.settings.retention);
        let before = |age: Duration| {
            TimeDelta::from_std(age).ok().and_then(|age| now.checked_sub_signed(age)).unwrap_or_default()
        };
        let (changes, answers) = (before(retention.changes_age_max), before(retention.answers_age_max));
        while self.0.store.forget_older(changes, answers, FORGET_ROWS_MAX).await? >= u64::from(FORGET_ROWS_MAX) {}
        Ok(())
    }
}

fn touches(change: &Change, task: Option<&TaskId>) -> bool {
    let Some(id) = task else { return true };
    let is_it = |view: &TaskView| view.task.id == *id;
    change.ops.iter().any(|op| match op {
        Op::Add(view) | Op::Update { after: view, .. } | Op::Remove { before: view, .. } => is_it(view),
        Op::Order { .. } => false,
    })
}
