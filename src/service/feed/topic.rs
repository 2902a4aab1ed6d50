//! One watched list: where it stands, as far as this process knows, and its newest changes.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{OnceCell, watch};

use super::registry::Watched;
use super::ring::{Found, Ring};
use crate::domain::{Change, Op, Operation, Revision, TaskList, TaskView, ThreadKey, Version};
use crate::store::{Position, thread_number};

/// One change, shared by all who are told of it.
#[derive(Debug)]
pub struct Told {
    /// What changed.
    pub change: Change,
    written: OnceLock<Arc<str>>,
}

impl Told {
    pub(super) fn new(change: Change) -> Self {
        Self { change, written: OnceLock::new() }
    }

    /// Returns the change as an edge writes it down. It is written once for all readers, so every caller must write alike.
    pub fn written(&self, write: impl FnOnce(&Change) -> String) -> Arc<str> {
        Arc::clone(self.written.get_or_init(|| write(&self.change).into()))
    }
}

/// What happens to a list.
#[derive(Debug)]
pub(super) enum Event {
    /// It changed.
    Change(Arc<Told>),
    /// It is this one from now on, whatever it was.
    Reset {
        list: TaskList,
        /// Whether it has fewer revisions than it had: the database lost some.
        goes_back: bool,
    },
}

/// Where a list stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct At {
    pub(super) revision: Revision,
    pub(super) change_id: Version,
}

/// Where a reader who has seen a revision goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// At this event: everything since is at hand.
    At(u64),
    /// At this event, once the changes up to this revision were read from the store.
    Behind(u64, Revision),
    /// The revision has not been heard of; this event is next.
    Ahead(u64),
}

/// A list that somebody watches.
#[derive(Debug)]
pub(super) struct Topic {
    pub(super) key: ThreadKey,
    number: u64,
    is_queued: AtomicBool,
    /// Set once it is known where the list stands.
    pub(super) is_placed: OnceCell<()>,
    state: Mutex<State>,
    moved: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    at: Option<At>,
    /// The newest revision that was heard of.
    heard: Revision,
    /// Whether the database was found to hold another list than the one that was followed.
    is_broken: bool,
    ring: Ring<Event>,
}

impl Watched for Topic {
    fn number(&self) -> u64 {
        self.number
    }

    fn is_queued(&self) -> &AtomicBool {
        &self.is_queued
    }
}

impl Topic {
    pub(super) fn new(key: ThreadKey) -> Self {
        Self {
            number: thread_number(&key),
            key,
            is_queued: AtomicBool::new(false),
            is_placed: OnceCell::new(),
            state: Mutex::default(),
            moved: watch::Sender::new(0),
        }
    }

    /// Begins to follow from here.
    pub(super) fn place(&self, position: Position) {
        self.lock().at.get_or_insert(At { revision: position.revision, change_id: position.change_id });
    }

    /// Tells of changes, oldest first. What is known already is passed over, and so is what comes after a gap.
    pub(super) fn publish(&self, changes: impl IntoIterator<Item = Change>) {
        let mut state = self.lock();
        for change in changes {
            state.heard = state.heard.max(change.revision);
            let Some(at) = state.at else { continue };
            let is_next = change.revision == at.revision.next();
            if change.revision <= at.revision || !(is_next || is_deletion(&change)) {
                continue;
            }
            state.at = Some(At { revision: change.revision, change_id: change.change_id });
            let bytes = size_bytes(&change);
            let event = match deleted_list(&change) {
                Some(list) => Event::Reset { list, goes_back: false },
                None => Event::Change(Arc::new(Told::new(change))),
            };
            state.ring.push(event, bytes);
        }
        self.ring_out(&state);
    }

    /// Goes on from a list that was loaded when the topic stood at `was`: its changes are not kept any more.
    pub(super) fn reset(&self, was: At, list: TaskList) {
        let mut state = self.lock();
        state.is_broken = false;
        let loaded = At { revision: list.revision(), change_id: list.change_id() };
        let goes_back =
            loaded.revision < was.revision || (loaded.revision == was.revision && loaded.change_id != was.change_id);
        let is_news = state.at.is_none_or(|at| at.revision < loaded.revision);
        if goes_back || is_news {
            state.at = Some(loaded);
            let bytes = list.tasks().iter().map(|task| task.size_bytes()).sum();
            state.ring.push(Event::Reset { list, goes_back }, bytes);
        }
        // What else was heard was about another list of the same number, or is heard again.
        state.heard = state.at.unwrap_or_default().revision;
        self.ring_out(&state);
    }

    /// Hears that the list has reached a revision.
    pub(super) fn hear(&self, revision: Revision) {
        let mut state = self.lock();
        state.heard = state.heard.max(revision);
    }

    /// Compares where the topic stood before the store was asked with where the store says the list is.
    pub(super) fn compare(&self, was: At, is: Position) {
        let mut state = self.lock();
        state.heard = state.heard.max(is.revision);
        state.is_broken |= is.revision < was.revision || (is.revision == was.revision && is.change_id != was.change_id);
    }

    /// Tells whether changes are missing here.
    pub(super) fn is_behind(&self) -> bool {
        let state = self.lock();
        state.is_broken || state.at.is_some_and(|at| at.revision < state.heard)
    }

    /// Tells whether what was followed is not what the database holds.
    pub(super) fn is_broken(&self) -> bool {
        self.lock().is_broken
    }

    pub(super) fn at(&self) -> Option<At> {
        self.lock().at
    }

    /// Returns where a new reader begins who will load the list: at the next event.
    pub(super) fn next(&self) -> u64 {
        self.lock().ring.next()
    }

    /// Returns where a reader goes on who has seen a revision.
    pub(super) fn joint(&self, seen: Revision) -> Joint {
        let state = self.lock();
        let at = state.at.unwrap_or_default().revision;
        if seen > at {
            return Joint::Ahead(state.ring.next());
        }
        if seen == at {
            return Joint::At(state.ring.next());
        }
        let is_next = |event: &Event| matches!(event, Event::Change(told) if told.change.revision == seen.next());
        state.ring.newest(is_next).map_or(Joint::Behind(state.ring.next(), at), Joint::At)
    }

    pub(super) fn get(&self, number: u64) -> Found<Event> {
        self.lock().ring.get(number)
    }

    /// Lets a reader wait until there is more.
    pub(super) fn moved(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    fn ring_out(&self, state: &State) {
        let next = state.ring.next();
        self.moved.send_if_modified(|known| std::mem::replace(known, next) != next);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A deletion takes the record of what it removed with it, so no steps lead over it.
fn is_deletion(change: &Change) -> bool {
    change.operation == Operation::DeleteThread.name()
}

/// Returns the list that a change left, if the change was the thread's deletion.
pub(super) fn deleted_list(change: &Change) -> Option<TaskList> {
    if !is_deletion(change) {
        return None;
    }
    let (revision, empty) = (change.revision, TaskList::default());
    TaskList::restored(revision, change.change_id, Some(revision), empty.counters(), Vec::new()).ok()
}

/// Returns about how many bytes a change holds, its texts being what counts.
pub(super) fn size_bytes(change: &Change) -> usize {
    let of = |view: &TaskView| view.task.size_bytes();
    let steps = change.ops.iter().map(|op| match op {
        Op::Add(view) | Op::Remove { before: view, .. } => of(view),
        Op::Update { before, after } => of(before) + of(after),
        Op::Order { before, after } => 64 * (before.len() + after.len()),
    });
    256 + steps.map(|bytes| bytes + 512).sum::<usize>()
}
