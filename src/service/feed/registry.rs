//! Who is watched in this process, and what waits to be looked at.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Something that can be watched.
pub(super) trait Watched {
    /// Returns its number, as processes tell it each other. Two may have the same.
    fn number(&self) -> u64;

    /// Returns whether it stands in a queue.
    fn is_queued(&self) -> &AtomicBool;
}

/// Everything of one kind that is watched, as long as somebody does.
#[derive(Debug)]
pub(super) struct Registry<T> {
    watched: Mutex<HashMap<u64, Vec<Entrant<T>>>>,
    /// How many there are, to be asked without a lock by those who change lists that nobody watches.
    count: AtomicUsize,
}

#[derive(Debug)]
struct Entrant<T> {
    thing: Arc<T>,
    watchers: usize,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { watched: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<T: Watched> Registry<T> {
    /// Finds what is watched already, or makes it. Whoever joins has to [`Registry::leave`].
    pub(super) fn join(&self, number: u64, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> Arc<T> {
        let mut watched = self.lock();
        let entrants = watched.entry(number).or_default();
        if let Some(entrant) = entrants.iter_mut().find(|entrant| is_it(&entrant.thing)) {
            entrant.watchers += 1;
            return Arc::clone(&entrant.thing);
        }
        let thing = Arc::new(make());
        entrants.push(Entrant { thing: Arc::clone(&thing), watchers: 1 });
        self.count.fetch_add(1, Ordering::Release);
        thing
    }

    /// Ends one watch.
    pub(super) fn leave(&self, thing: &Arc<T>) {
        let mut watched = self.lock();
        let Entry::Occupied(mut entrants) = watched.entry(thing.number()) else { return };
        let Some(at) = entrants.get().iter().position(|entrant| Arc::ptr_eq(&entrant.thing, thing)) else { return };
        if let Some(entrant) = entrants.get_mut().get_mut(at) {
            entrant.watchers -= 1;
            if entrant.watchers > 0 {
                return;
            }
        }
        entrants.get_mut().swap_remove(at);
        if entrants.get().is_empty() {
            entrants.remove();
        }
        self.count.fetch_sub(1, Ordering::Release);
    }

    /// Returns what is watched under a number.
    pub(super) fn find(&self, number: u64) -> Vec<Arc<T>> {
        if self.is_empty() {
            return Vec::new();
        }
        let watched = self.lock();
        watched.get(&number).into_iter().flatten().map(|entrant| Arc::clone(&entrant.thing)).collect()
    }

    /// Returns everything that is watched.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        self.lock().values().flatten().map(|entrant| Arc::clone(&entrant.thing)).collect()
    }

    /// Tells whether nothing is watched.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Vec<Entrant<T>>>> {
        // The map is whole between any two statements, so a panic elsewhere leaves nothing half done.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What waits to be looked at, each at most once.
#[derive(Debug)]
pub(super) struct Queue<T> {
    waiting: Mutex<Vec<Arc<T>>>,
    bell: Notify,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), bell: Notify::new() }
    }
}

impl<T: Watched> Queue<T> {
    /// Puts a thing into the queue, unless it stands there already.
    pub(super) fn put(&self, thing: &Arc<T>) {
        if !thing.is_queued().swap(true, Ordering::AcqRel) {
            self.lock().push(Arc::clone(thing));
            self.bell.notify_one();
        }
    }

    /// Waits until something is there, and takes at most so many out.
    pub(super) async fn take(&self, count_max: usize) -> Vec<Arc<T>> {
        loop {
            let taken: Vec<Arc<T>> = {
                let mut waiting = self.lock();
                let count = waiting.len().min(count_max);
                waiting.drain(..count).collect()
            };
            if !taken.is_empty() {
                // From here on, what happens to a thing needs another look.
                for thing in &taken {
                    thing.is_queued().store(false, Ordering::Release);
                }
                return taken;
            }
            self.bell.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<T>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
