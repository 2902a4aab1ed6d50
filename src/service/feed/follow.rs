//! Following one list: what a reader has missed, and then each change as it happens.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use super::ring::Found;
use super::topic::{Event, Joint, Told, Topic, deleted_list};
use crate::domain::{Revision, TaskList, ThreadKey};
use crate::service::{Caller, Error, Lists, may};

/// How many changes are read at once for a reader who missed them.
const PAGE: u32 = 200;

/// What a reader of a list is told.
#[derive(Debug)]
pub enum Next {
    /// The list as it is; changes after its revision follow.
    Snapshot(TaskList),
    /// The next revision.
    Change(Arc<Told>),
    /// The list as it is, because what the reader has seen does not lead to it.
    Reset(TaskList),
    /// Nothing more: the reader was too slow. It goes on where it was by following again from the last revision it saw.
    TooSlow,
    /// Nothing more: the service stops.
    Stopping,
}

/// A reader of one list. Each revision comes once, in order; nothing is buffered for it.
#[derive(Debug)]
pub struct Following {
    watching: Watching,
    ready: VecDeque<Next>,
    /// The newest revision that was handed out, or is ready to be.
    at: Revision,
    /// Up to which revision changes have to be read from the store.
    missed_until: Revision,
    event: u64,
}

/// Keeps a list watched.
#[derive(Debug)]
pub(in crate::service) struct Watching {
    pub(super) lists: Lists,
    pub(super) topic: Arc<Topic>,
    pub(super) moved: watch::Receiver<u64>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl Watching {
    /// Waits until there is an event of this number; `false` if the service stops instead.
    pub(super) async fn wait(&mut self) -> bool {
        if *self.stopping.borrow() {
            return false;
        }
        tokio::select! {
            moved = self.moved.changed() => moved.is_ok(),
            _ = self.stopping.changed() => !*self.stopping.borrow(),
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.lists.0.feed.threads.leave(&self.topic);
    }
}

impl Lists {
    /// Follows a list: from a revision that the caller has seen, or from a snapshot.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn follow(&self, caller: &Caller, key: &ThreadKey, seen: Option<Revision>) -> Result<Following, Error> {
        may(caller.scopes.read)?;
        let watching = self.watch(key).await?;
        let event = watching.topic.next();
        let (at, missed_until) = (Revision::default(), Revision::default());
        let mut following = Following { watching, ready: VecDeque::new(), at, missed_until, event };
        match seen {
            None => {
                let list = self.load_current(key).await?;
                following.at = list.revision();
                following.ready.push_back(Next::Snapshot(list));
            }
            Some(seen) => following.join(seen).await?,
        }
        Ok(following)
    }

    /// Begins to watch a list, and finds out where it stands.
    pub(in crate::service) async fn watch(&self, key: &ThreadKey) -> Result<Watching, Error> {
        let feed = &self.0.feed;
        let topic = feed.watch_thread(self, key);
        let (moved, stopping) = (topic.moved(), feed.stopping());
        // Made before anything can fail, so that whatever happens it is left again.
        let watching = Watching { lists: self.clone(), topic, moved, stopping };
        let topic = &watching.topic;
        topic
            .is_placed
            .get_or_try_init(async || {
                let keys = std::slice::from_ref(key);
                let positions = self.in_time(self.deadline(), self.0.store.positions(keys)).await?;
                topic.place(positions.first().copied().unwrap_or_default());
                Ok::<(), Error>(())
            })
            .await?;
        // Something may have happened between the question and the answer.
        feed.look_if_behind(topic);
        Ok(watching)
    }
}

impl Following {
    /// Returns what comes next, as soon as there is something. Nothing is lost if the wait is given up.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Store`]: missed changes could not be read.
    pub async fn next(&mut self) -> Result<Next, Error> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                return Ok(next);
            }
            if self.at < self.missed_until {
                self.read_missed().await?;
                continue;
            }
            // Marked as seen before looking, so that what comes in between is not slept through.
            self.watching.moved.mark_unchanged();
            match self.watching.topic.get(self.event) {
                Found::Event(event) => {
                    self.event += 1;
                    self.take(&event);
                }
                Found::Gone => return Ok(Next::TooSlow),
                Found::Nothing if self.watching.wait().await => {}
                Found::Nothing => return Ok(Next::Stopping),
            }
        }
    }

    /// Finds where a reader goes on who has seen a revision.
    async fn join(&mut self, seen: Revision) -> Result<(), Error> {
        self.at = seen;
        match self.watching.topic.joint(seen) {
            Joint::At(event) => self.event = event,
            Joint::Behind(event, newest) => {
                self.event = event;
                self.missed_until = newest;
                self.read_missed().await?;
            }
            // Another process may have committed what the reader saw.
            Joint::Ahead(event) => {
                self.event = event;
                let Watching { lists, topic, .. } = &self.watching;
                let list = lists.load_current(&topic.key).await?;
                if list.revision() < seen {
                    self.reset(list);
                } else {
                    lists.0.feed.hear(topic, list.revision());
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Change(told) if told.change.revision == self.at.next() => {
                self.at = told.change.revision;
                self.ready.push_back(Next::Change(Arc::clone(told)));
            }
            // What lies between is read, and with it this one.
            Event::Change(told) if told.change.revision > self.at => self.missed_until = told.change.revision,
            Event::Reset { list, goes_back } if *goes_back || list.revision() > self.at => self.reset(list.clone()),
            Event::Change(_) | Event::Reset { .. } => {}
        }
    }

    fn reset(&mut self, list: TaskList) {
        self.at = list.revision();
        self.missed_until = self.at;
        self.ready.push_back(Next::Reset(list));
    }

    /// Reads a page of the changes that were missed.
    async fn read_missed(&mut self) -> Result<(), Error> {
        let (lists, key) = (self.watching.lists.clone(), self.watching.topic.key.clone());
        let page = lists.changes(&key, self.at, PAGE).await?;
        let before = self.at;
        for change in page {
            match deleted_list(&change) {
                Some(list) => {
                    self.at = list.revision();
                    self.ready.push_back(Next::Reset(list));
                }
                None if change.revision == self.at.next() => {
                    self.at = change.revision;
                    self.ready.push_back(Next::Change(Arc::new(Told::new(change))));
                }
                // The changes in between are not kept any more.
                None => break,
            }
        }
        if self.at == before {
            let list = lists.load_current(&key).await?;
            self.reset(list);
        }
        Ok(())
    }
}
