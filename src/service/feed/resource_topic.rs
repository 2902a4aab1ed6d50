//! A watched resource: the newest changes of all its threads.
//!
//! Commits become visible in another order than that of their numbers, so a number alone is no place to go on from. What is
//! known of a resource is therefore two things: the number below which every commit was seen, and which changes at or above
//! it were seen already.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OnceCell, watch};

use super::cursor::Cursor;
use super::registry::Watched;
use super::ring::{Found, Ring};
use super::topic::{Told, size_bytes};
use crate::domain::{Moment, ResourceId, Revision, ThreadId};
use crate::service::{Error, Lists};
use crate::store::{Page, Place, Placed};

/// How many changes are read at once.
pub(super) const PAGE: u32 = 500;

/// What happens to a resource's threads.
#[derive(Debug)]
pub(super) enum ResourceEvent {
    /// One of them changed.
    Change { thread: ThreadId, told: Arc<Told>, cursor: Cursor },
    /// The database lost commits that were seen.
    Lost,
}

/// A resource whose threads somebody watches.
#[derive(Debug)]
pub(super) struct ResourceTopic {
    pub(super) resource: ResourceId,
    number: u64,
    is_queued: AtomicBool,
    /// Set once it is known from where on changes are looked for.
    pub(super) is_placed: OnceCell<()>,
    state: Mutex<State>,
    moved: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// Every commit below this number was seen.
    from: i64,
    /// The newest change that was seen of each thread, with its number, as long as it could be read again.
    seen: HashMap<ThreadId, (i64, Revision)>,
    ring: Ring<ResourceEvent>,
}

impl Watched for ResourceTopic {
    fn number(&self) -> u64 {
        self.number
    }

    fn is_queued(&self) -> &AtomicBool {
        &self.is_queued
    }
}

impl ResourceTopic {
    pub(super) fn new(resource: ResourceId) -> Self {
        Self {
            number: crate::store::resource_number(&resource),
            resource,
            is_queued: AtomicBool::new(false),
            is_placed: OnceCell::new(),
            state: Mutex::default(),
            moved: watch::Sender::new(0),
        }
    }

    /// Begins to look from here on.
    pub(super) fn place(&self, horizon: i64) {
        self.lock().from = horizon;
    }

    pub(super) fn from(&self) -> i64 {
        self.lock().from
    }

    /// Returns where a new reader begins: at the next event, and everything before it has a number below or was told.
    pub(super) fn next(&self) -> (u64, i64) {
        let state = self.lock();
        (state.ring.next(), state.from)
    }

    pub(super) fn get(&self, number: u64) -> Found<ResourceEvent> {
        self.lock().ring.get(number)
    }

    pub(super) fn moved(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    /// Takes a page in. `horizon` is that of the first page of the sweep: what was not visible then is looked for again.
    fn take(&self, page: Page, horizon: i64, at: Moment) {
        let mut state = self.lock();
        for Placed { number, thread, change, .. } in page.changes {
            let is_new = state.seen.get(&thread).is_none_or(|(_, seen)| *seen < change.revision);
            if is_new {
                state.seen.insert(thread.clone(), (number, change.revision));
                let cursor = Cursor { number: number.min(horizon), at };
                let bytes = size_bytes(&change);
                let event = ResourceEvent::Change { thread, told: Arc::new(Told::new(change)), cursor };
                state.ring.push(event, bytes);
            }
        }
        self.ring_out(&state);
    }

    /// Ends a sweep.
    fn swept(&self, horizon: i64) {
        let mut state = self.lock();
        if horizon < state.from {
            state.seen.clear();
            state.ring.push(ResourceEvent::Lost, 0);
        }
        state.from = horizon;
        state.seen.retain(|_, (number, _)| *number >= horizon);
        self.ring_out(&state);
    }

    fn ring_out(&self, state: &State) {
        let next = state.ring.next();
        self.moved.send_if_modified(|known| std::mem::replace(known, next) != next);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lists {
    /// Fetches what has happened to a resource's threads.
    pub(super) async fn sweep(&self, topic: &ResourceTopic) -> Result<(), Error> {
        if !topic.is_placed.initialized() {
            return Ok(());
        }
        let mut place = Place::from(topic.from());
        let mut horizon = None;
        loop {
            let page = self.resource_page(&topic.resource, &place, PAGE).await?;
            let first = *horizon.get_or_insert(page.horizon);
            let is_last = page.changes.len() < PAGE as usize;
            if let Some(last) = page.changes.last() {
                place = last.place();
            }
            topic.take(page, first, self.0.clock.now());
            if is_last {
                topic.swept(first);
                return Ok(());
            }
        }
    }

    pub(super) async fn resource_page(&self, resource: &ResourceId, place: &Place, limit: u32) -> Result<Page, Error> {
        self.in_time(self.deadline(), self.0.store.resource_changes(resource, place, limit)).await
    }
}
