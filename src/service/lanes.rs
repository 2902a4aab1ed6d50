//! One queue for each thread that is being changed, so that operations of one list do not race inside this process.
//!
//! Without it, many callers of one list would each read, decide and lose to one of the others, again and again; with it
//! only processes compete. Whatever waits when the list is free is decided in order and stored as one commit.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::change::{Answered, ChangeRequest};
use super::ticket::Ticket;
use super::{Error, Lists};
use crate::domain::{Actor, ThreadKey};

/// The most operations that become one commit.
const BATCH_MAX: usize = 64;

/// The queues of all threads that are being changed right now.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: Mutex<HashMap<ThreadKey, VecDeque<Ticket>>>,
}

impl Lanes {
    /// Takes a call in. If nobody works on its thread, a task of its own begins to, and ends when the queue is empty.
    pub(super) fn take_in(&self, lists: &Lists, ticket: Ticket) {
        let key = ticket.request.key.clone();
        match self.lock().entry(key.clone()) {
            Entry::Occupied(mut lane) => lane.get_mut().push_back(ticket),
            Entry::Vacant(lane) => {
                lane.insert(VecDeque::from([ticket]));
                tokio::spawn(work(lists.clone(), key));
            }
        }
    }

    /// Returns what waits and may become one commit; closes the lane if nothing waits.
    fn next_batch(&self, key: &ThreadKey) -> Option<Vec<Ticket>> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(key)?;
        let Some(first) = lane.pop_front() else {
            lanes.remove(key);
            return None;
        };
        let mut batch = vec![first];
        // A call with a key looks for its own answer when the list is loaded, so it goes alone.
        while batch.len() < BATCH_MAX && batch.iter().chain(lane.front()).all(Ticket::may_share) {
            match lane.pop_front() {
                Some(ticket) => batch.push(ticket),
                None => break,
            }
        }
        Some(batch)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadKey, VecDeque<Ticket>>> {
        // The map is whole between any two statements, so a panic elsewhere leaves nothing half done.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn work(lists: Lists, key: ThreadKey) {
    // If the work panics, its callers get an error and the next call opens the lane anew.
    let closed = CloseLane { lists: lists.clone(), key: key.clone() };
    while let Some(batch) = lists.0.lanes.next_batch(&key) {
        super::commit::settle(&lists, &key, batch).await;
    }
    drop(closed);
}

struct CloseLane {
    lists: Lists,
    key: ThreadKey,
}

impl Drop for CloseLane {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.lists.0.lanes.lock().remove(&self.key);
        }
    }
}

/// Lets the caller wait for the answer.
pub(super) async fn enqueue(lists: &Lists, actor: Actor, request: ChangeRequest) -> Result<Answered, Error> {
    let (reply, answer) = oneshot::channel();
    let ticket = Ticket { actor, request, deadline: lists.deadline(), reply };
    lists.0.lanes.take_in(lists, ticket);
    answer.await.unwrap_or(Err(Error::Stopped))
}
