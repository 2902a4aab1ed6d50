//! Following all threads of a resource.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use chrono::TimeDelta;
use tokio::sync::watch;

use super::cursor::Cursor;
use super::resource_topic::{PAGE, ResourceEvent, ResourceTopic};
use super::ring::Found;
use super::topic::{Told, deleted_list};
use crate::domain::{ResourceId, Revision, TaskList, ThreadId, ThreadKey};
use crate::service::{Caller, Error, Lists, may};
use crate::store::{Place, Placed, ThreadEntry, ThreadQuery};

/// The most threads that an overview shows.
const OVERVIEW_MAX: u32 = 100;
/// A reader that has missed more than this is shown an overview instead.
const MISSED_MAX: usize = 10_000;
/// The threads of a resource at a moment.
#[derive(Debug, Clone)]
pub struct Overview {
    /// Those with the newest activity.
    pub threads: Vec<ThreadEntry>,
    /// Whether there are more.
    pub has_more: bool,
}

/// What a reader of a resource is told.
#[derive(Debug)]
pub enum NextOfResource {
    /// The threads as they are; changes follow.
    Snapshot(Overview, Cursor),
    /// A thread's list changed.
    Change(ThreadId, Arc<Told>, Cursor),
    /// A thread's list as it is, because what was told of it before does not lead to it.
    Reset(ThreadId, TaskList, Cursor),
    /// The threads as they are, because what was told before does not lead to it.
    ResetAll(Overview, Cursor),
    /// Nothing more: the reader was too slow. It goes on where it was by following again from the last cursor it saw.
    TooSlow,
    /// Nothing more: the service stops.
    Stopping,
}

/// A reader of all threads of a resource. No change is ever missing; after a reconnect some may come again.
#[derive(Debug)]
pub struct FollowingResource {
    lists: Lists,
    topic: Arc<ResourceTopic>,
    moved: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    ready: VecDeque<NextOfResource>,
    event: u64,
    cursor: Cursor,
    missed: Option<Missed>,
    /// What was told of threads before the first event.
    told: HashMap<ThreadId, Revision>,
}

/// Changes that happened before the reader came, as far as they are still to be read.
#[derive(Debug)]
struct Missed {
    place: Place,
    horizon: Option<i64>,
    count: usize,
}

impl Drop for FollowingResource {
    fn drop(&mut self) {
        self.lists.0.feed.resources.leave(&self.topic);
    }
}

impl Lists {
    /// Follows all threads of the caller's resource: from a cursor that was given out, or from now on.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn follow_resource(&self, caller: &Caller, cursor: Option<Cursor>) -> Result<FollowingResource, Error> {
        may(caller.scopes.read)?;
        let feed = &self.0.feed;
        let topic = feed.watch_resource(self, &caller.resource);
        let at = self.0.clock.now();
        let mut following = FollowingResource {
            lists: self.clone(),
            moved: topic.moved(),
            stopping: feed.stopping(),
            topic,
            ready: VecDeque::new(),
            event: 0,
            cursor: cursor.unwrap_or(Cursor { number: 0, at }),
            missed: None,
            told: HashMap::new(),
        };
        following.join(cursor).await?;
        Ok(following)
    }

    async fn place(&self, topic: &ResourceTopic) -> Result<(), Error> {
        let page = self.resource_page(&topic.resource, &Place::from(i64::MAX), 1).await?;
        topic.place(page.horizon);
        Ok(())
    }

    async fn overview(&self, resource: &ResourceId) -> Result<Overview, Error> {
        let query = ThreadQuery { resource: resource.clone(), after: None, limit: OVERVIEW_MAX + 1 };
        let mut threads = self.in_time(self.deadline(), self.0.store.threads(&query)).await?;
        let has_more = threads.len() > OVERVIEW_MAX as usize;
        threads.truncate(OVERVIEW_MAX as usize);
        Ok(Overview { threads, has_more })
    }
}

impl FollowingResource {
    /// Returns what comes next, as soon as there is something. Nothing is lost if the wait is given up.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Store`]: missed changes could not be read.
    pub async fn next(&mut self) -> Result<NextOfResource, Error> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                return Ok(next);
            }
            if self.missed.is_some() {
                self.read_missed().await?;
                continue;
            }
            self.moved.mark_unchanged();
            match self.topic.get(self.event) {
                Found::Event(event) => self.take(&event).await?,
                Found::Gone => return Ok(NextOfResource::TooSlow),
                Found::Nothing if self.wait().await => {}
                Found::Nothing => return Ok(NextOfResource::Stopping),
            }
        }
    }

    async fn wait(&mut self) -> bool {
        if *self.stopping.borrow() {
            return false;
        }
        tokio::select! {
            moved = self.moved.changed() => moved.is_ok(),
            _ = self.stopping.changed() => !*self.stopping.borrow(),
        }
    }

    async fn join(&mut self, cursor: Option<Cursor>) -> Result<(), Error> {
        self.topic.is_placed.get_or_try_init(|| self.lists.place(&self.topic)).await?;
        // Something may have happened while nobody knew from where on to look.
        self.lists.0.feed.resources_behind.put(&self.topic);
        let (event, from) = self.topic.next();
        self.event = event;
        match cursor {
            None => {
                let overview = self.lists.overview(&self.topic.resource).await?;
                self.cursor.number = from;
                self.told = shown(&overview);
                self.ready.push_back(NextOfResource::Snapshot(overview, self.cursor));
            }
            Some(cursor) if self.is_kept(cursor) => {
                self.missed = Some(Missed { place: Place::from(cursor.number), horizon: None, count: 0 });
                self.read_missed().await?;
            }
            Some(_) => self.reset_all().await?,
        }
        Ok(())
    }

    /// Tells whether all changes since a cursor are still kept, as far as their age decides it.
    fn is_kept(&self, cursor: Cursor) -> bool {
        let age = TimeDelta::from_std(self.lists.0.settings.retention.changes_age_max).unwrap_or(TimeDelta::MAX);
        self.lists.0.clock.now().signed_duration_since(cursor.at) < age
    }

    async fn take(&mut self, event: &ResourceEvent) -> Result<(), Error> {
        match event {
            ResourceEvent::Change { thread, told, cursor } => {
                self.event += 1;
                self.cursor = *cursor;
                if self.told.get(thread).is_none_or(|seen| *seen < told.change.revision) {
                    self.ready.push_back(match deleted_list(&told.change) {
                        Some(list) => NextOfResource::Reset(thread.clone(), list, *cursor),
                        None => NextOfResource::Change(thread.clone(), Arc::clone(told), *cursor),
                    });
                }
                Ok(())
            }
            ResourceEvent::Lost => self.reset_all().await,
        }
    }

    /// Starts anew from what there is now.
    async fn reset_all(&mut self) -> Result<(), Error> {
        let (event, from) = self.topic.next();
        let overview = self.lists.overview(&self.topic.resource).await?;
        self.event = event;
        self.missed = None;
        self.told = shown(&overview);
        self.cursor = Cursor { number: from, at: self.lists.0.clock.now() };
        self.ready.push_back(NextOfResource::ResetAll(overview, self.cursor));
        Ok(())
    }

    async fn read_missed(&mut self) -> Result<(), Error> {
        let Some(missed) = &self.missed else { return Ok(()) };
        let page = self.lists.resource_page(&self.topic.resource, &missed.place, PAGE).await?;
        let horizon = missed.horizon.unwrap_or(page.horizon);
        let is_from_elsewhere = missed.horizon.is_none() && missed.place.number > page.horizon;
        let count = missed.count + page.changes.len();
        if is_from_elsewhere || count > MISSED_MAX {
            return self.reset_all().await;
        }
        let is_last = page.changes.len() < PAGE as usize;
        let place = page.changes.last().map_or_else(|| missed.place.clone(), Placed::place);
        let at = self.lists.0.clock.now();
        let mut ready = Vec::with_capacity(page.changes.len());
        let mut told = HashMap::new();
        for placed in page.changes {
            let cursor = Cursor { number: placed.number.min(horizon), at };
            let before = told.get(&placed.thread).or_else(|| self.told.get(&placed.thread)).copied();
            if let Some((revision, next)) = self.missed_change(placed, before, cursor).await? {
                told.insert(revision.0, revision.1);
                ready.push(next);
            }
        }
        // Only now, so that nothing is lost if the wait is given up in between.
        self.told.extend(told);
        self.ready.extend(ready);
        self.missed = (!is_last).then_some(Missed { place, horizon: Some(horizon), count });
        Ok(())
    }

    /// Returns what a reader who missed a change is told: the change, or the list where the one before is not kept.
    async fn missed_change(
        &self,
        placed: Placed,
        before: Option<Revision>,
        cursor: Cursor,
    ) -> Result<Option<((ThreadId, Revision), NextOfResource)>, Error> {
        let Placed { thread, follows, change, .. } = placed;
        let revision = change.revision;
        if before.is_some_and(|before| before >= revision) {
            return Ok(None);
        }
        if let Some(list) = deleted_list(&change) {
            return Ok(Some(((thread.clone(), revision), NextOfResource::Reset(thread, list, cursor))));
        }
        if follows || before.is_some_and(|before| before.next() == revision) {
            let told = Arc::new(Told::new(change));
            return Ok(Some(((thread.clone(), revision), NextOfResource::Change(thread, told, cursor))));
        }
        let key = ThreadKey { resource: self.topic.resource.clone(), thread: thread.clone() };
        let list = self.lists.load_current(&key).await?;
        Ok(Some(((thread.clone(), list.revision()), NextOfResource::Reset(thread, list, cursor))))
    }
}

/// Changes up to these revisions may still come, but the overview shows what they did.
fn shown(overview: &Overview) -> HashMap<ThreadId, Revision> {
    overview.threads.iter().map(|entry| (entry.thread.clone(), entry.revision)).collect()
}
