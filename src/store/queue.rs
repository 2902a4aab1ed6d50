//! What waits for a connection. Whatever waits when one is free is worked on as one batch, so that a statement costs the
//! more callers the more there are; and when nobody else waits, nobody is waited for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Database, Pool};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::StoreError;

/// How long a worker without work keeps its connection. No longer than one is trusted to be alive without being asked.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a worker that always has work keeps its connection. The pool renews old ones, but only when it gets them back.
const KEPT_MAX: Duration = Duration::from_mins(1);
/// A pool of fewer connections than this has none to be kept by workers.
const KEEPABLE_FROM: u32 = 8;

/// Something to do on a connection, together with others of its kind.
pub(super) trait Job<DB: Database>: Sized + Send + 'static {
    /// Takes off what may be one batch, at least one if anything waits.
    fn take(waiting: &mut VecDeque<Self>) -> Vec<Self>;

    /// Does what a batch is about and answers each of it. Tells whether the connection still is good.
    fn work(connection: &mut DB::Connection, batch: Vec<Self>) -> impl Future<Output = bool> + Send;

    /// Answers that there is no connection.
    fn give_up(self, error: StoreError);
}

/// A queue in front of some of a pool's connections.
pub(super) struct Queue<DB: Database, J>(Arc<Parts<DB, J>>);

struct Parts<DB: Database, J> {
    pool: Pool<DB>,
    workers_max: usize,
    keeps_connections: bool,
    state: Mutex<State<J>>,
    work: Notify,
}

struct State<J> {
    waiting: VecDeque<J>,
    workers: usize,
    /// How many of the workers have nothing to do.
    idle: usize,
}

impl<DB: Database, J> Clone for Queue<DB, J> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<DB: Database, J> fmt::Debug for Queue<DB, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("workers_max", &self.0.workers_max).finish_non_exhaustive()
    }
}

impl<DB: Database, J: Job<DB>> Queue<DB, J> {
    /// Makes a queue that uses at most so many connections at a time.
    pub(super) fn new(pool: Pool<DB>, workers_max: usize) -> Self {
        let keeps_connections = pool.options().get_max_connections() >= KEEPABLE_FROM;
        let state = Mutex::new(State { waiting: VecDeque::new(), workers: 0, idle: 0 });
        Self(Arc::new(Parts { pool, workers_max, keeps_connections, state, work: Notify::new() }))
    }

    /// Adds a job. If all workers are busy and there may be one more, it begins.
    pub(super) fn put(&self, job: J) {
        let mut state = self.0.lock();
        state.waiting.push_back(job);
        if state.idle > 0 {
            drop(state);
            self.0.work.notify_one();
        } else if state.workers < self.0.workers_max {
            state.workers += 1;
            drop(state);
            tokio::spawn(work(Worker { parts: Arc::clone(&self.0), counts: true }));
        }
    }
}

impl<DB: Database, J: Job<DB>> Parts<DB, J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        // The state is whole between any two statements, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<J> {
        J::take(&mut self.lock().waiting)
    }

    async fn connection(&self) -> Option<PoolConnection<DB>> {
        let error = match self.pool.acquire().await {
            Ok(connection) => return Some(connection),
            Err(error) => StoreError::Unavailable(error),
        };
        // Whoever waits has waited for this connection.
        let waiting = std::mem::take(&mut self.lock().waiting);
        for job in waiting {
            job.give_up(error.for_another());
        }
        None
    }
}

/// One that works on what waits, and counts as long as it does.
struct Worker<DB: Database, J: Job<DB>> {
    parts: Arc<Parts<DB, J>>,
    counts: bool,
}

impl<DB: Database, J: Job<DB>> Worker<DB, J> {
    /// Tells whether something waits. If nothing does, a patient worker lets some time pass, and then it counts no more.
    async fn has_work(&mut self, is_patient: bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            {
                let mut state = self.parts.lock();
                if !state.waiting.is_empty() {
                    return true;
                }
                // Under the same lock, so that nobody relies on a worker that has just left.
                if !is_patient || Instant::now() >= deadline || self.parts.pool.is_closed() {
                    state.workers -= 1;
                    self.counts = false;
                    return false;
                }
                state.idle += 1;
            }
            tokio::select! {
                _ = timeout_at(deadline, self.parts.work.notified()) => {}
                // Closing waits for the connection that this worker keeps.
                () = self.parts.pool.close_event() => {}
            }
            self.parts.lock().idle -= 1;
        }
    }
}

impl<DB: Database, J: Job<DB>> Drop for Worker<DB, J> {
    fn drop(&mut self) {
        // Only after a panic. Whoever comes next starts another one.
        if self.counts {
            self.parts.lock().workers -= 1;
        }
    }
}

async fn work<DB: Database, J: Job<DB>>(mut worker: Worker<DB, J>) {
    let parts = Arc::clone(&worker.parts);
    let mut kept: Option<(PoolConnection<DB>, Instant)> = None;
    while worker.has_work(kept.is_some()).await {
        // First the connection, then the batch: what comes while there is none is worked on with the rest.
        let (mut connection, since) = match kept.take() {
            Some(kept) => kept,
            None => match parts.connection().await {
                Some(connection) => (connection, Instant::now()),
                None => continue,
            },
        };
        let batch = parts.take();
        if !batch.is_empty() && !J::work(&mut connection, batch).await {
            connection.close_on_drop();
        } else if parts.keeps_connections && since.elapsed() < KEPT_MAX {
            kept = Some((connection, since));
        }
    }
}
