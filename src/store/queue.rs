//! What waits for a connection. Whatever waits when one is free is worked on as one batch, so that a statement costs the
//! more callers the more there are; and when nobody else waits, nobody is waited for.
//!
//! One connection that keeps up makes the largest batches, so a further one joins in only for what has waited for long, or
//! when as much waits as a batch can hold.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Database, Pool};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::StoreError;

/// How long what waits is left to the workers that are at it already: longer than most batches take, shorter than a caller
/// would notice.
const HEAD_START: Duration = Duration::from_millis(5);
/// How long a worker without work keeps its connection. No longer than one is trusted to be alive without being asked.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a worker that always has work keeps its connection. The pool renews old ones, but only when it gets them back.
const KEPT_MAX: Duration = Duration::from_mins(1);
/// A pool of fewer connections than this has none to be kept by workers.
const KEEPABLE_FROM: u32 = 8;

/// Something to do on a connection, together with others of its kind.
pub(super) trait Job<DB: Database>: Sized + Send + 'static {
    /// The most of one batch.
    const BATCH_MAX: usize;

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
    head_start: Duration,
    keeps_connections: bool,
    state: Mutex<State<J>>,
    work: Notify,
}

struct State<J> {
    waiting: VecDeque<J>,
    /// Since when something waits, or when a batch was last taken.
    since: Instant,
    workers: usize,
    /// How many of the workers do nothing.
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
        Self::with_head_start(pool, workers_max, HEAD_START)
    }

    fn with_head_start(pool: Pool<DB>, workers_max: usize, head_start: Duration) -> Self {
        let keeps_connections = pool.options().get_max_connections() >= KEEPABLE_FROM;
        let state = Mutex::new(State { waiting: VecDeque::new(), since: Instant::now(), workers: 0, idle: 0 });
        Self(Arc::new(Parts { pool, workers_max, head_start, keeps_connections, state, work: Notify::new() }))
    }

    /// Adds a job. If all workers are busy and there may be one more, it begins.
    pub(super) fn put(&self, job: J) {
        let mut state = self.0.lock();
        if state.waiting.is_empty() {
            state.since = Instant::now();
        }
        state.waiting.push_back(job);
        if state.idle > 0 {
            // Whoever was told of the first one also sees those that come after it.
            let is_news = state.waiting.len() == 1 || state.waiting.len() >= J::BATCH_MAX;
            drop(state);
            if is_news {
                self.0.work.notify_one();
            }
        } else if state.workers < self.0.workers_max {
            state.workers += 1;
            drop(state);
            tokio::spawn(work(Worker { parts: Arc::clone(&self.0), counts: true }));
        }
    }
}

impl<J> State<J> {
    /// From when on what waits is for a worker that is not idle, whatever the others do; none if nothing waits.
    fn due(&self, batch_max: usize, head_start: Duration) -> Option<Instant> {
        let others_at_work = self.workers.saturating_sub(self.idle + 1);
        let is_left_to_others = others_at_work > 0 && self.waiting.len() < batch_max;
        let due = if is_left_to_others { self.since + head_start } else { self.since };
        (!self.waiting.is_empty()).then_some(due)
    }
}

impl<DB: Database, J: Job<DB>> Parts<DB, J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        // The state is whole between any two statements, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<J> {
        let mut state = self.lock();
        let batch = J::take(&mut state.waiting);
        state.since = Instant::now();
        if !state.waiting.is_empty() && state.idle > 0 {
            self.work.notify_one();
        }
        batch
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
    /// Tells whether something waits that is not left to others. If nothing does, a patient worker lets some time pass, and
    /// then it counts no more.
    async fn has_work(&mut self, is_patient: bool) -> bool {
        let begin = Instant::now();
        loop {
            let until = {
                let mut state = self.parts.lock();
                let now = Instant::now();
                let due = state.due(J::BATCH_MAX, self.parts.head_start);
                if due.is_some_and(|due| due <= now) {
                    return true;
                }
                let until = due.unwrap_or(if is_patient { begin + PATIENCE } else { begin });
                // Under the same lock, so that nobody relies on a worker that has just left.
                if until <= now || self.parts.pool.is_closed() {
                    state.workers -= 1;
                    self.counts = false;
                    return false;
                }
                state.idle += 1;
                until
            };
            tokio::select! {
                _ = timeout_at(until, self.parts.work.notified()) => {}
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

#[cfg(test)]
mod tests {
    use sqlx::sqlite::{SqliteConnection, SqlitePoolOptions};
    use sqlx::{Connection, Sqlite};
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::*;

    /// Tells of its batch when that begins, and ends when it may.
    struct Step {
        n: u32,
        begun: UnboundedSender<Vec<u32>>,
        may_end: Arc<Notify>,
    }

    impl Job<Sqlite> for Step {
        const BATCH_MAX: usize = 3;

        fn take(waiting: &mut VecDeque<Self>) -> Vec<Self> {
            waiting.drain(..waiting.len().min(Self::BATCH_MAX)).collect()
        }

        async fn work(connection: &mut SqliteConnection, batch: Vec<Self>) -> bool {
            batch[0].begun.send(batch.iter().map(|step| step.n).collect()).unwrap();
            batch[0].may_end.notified().await;
            connection.ping().await.is_ok()
        }

        fn give_up(self, error: StoreError) {
            panic!("{error}");
        }
    }

    struct Steps {
        queue: Queue<Sqlite, Step>,
        begun: UnboundedSender<Vec<u32>>,
        may_end: Arc<Notify>,
    }

    impl Steps {
        async fn new(head_start: Duration) -> (Self, UnboundedReceiver<Vec<u32>>) {
            let pool = SqlitePoolOptions::new().max_connections(8).connect("sqlite::memory:").await.unwrap();
            let (begun, batches) = unbounded_channel();
            let queue = Queue::with_head_start(pool, 2, head_start);
            (Self { queue, begun, may_end: Arc::new(Notify::new()) }, batches)
        }

        fn put(&self, numbers: impl IntoIterator<Item = u32>) {
            for n in numbers {
                self.queue.put(Step { n, begun: self.begun.clone(), may_end: Arc::clone(&self.may_end) });
            }
        }
    }

    #[tokio::test]
    async fn what_comes_while_one_is_at_work_is_its_next_batch() {
        let (steps, mut batches) = Steps::new(Duration::from_hours(1)).await;
        steps.put([1]);
        assert_eq!(batches.recv().await.unwrap(), [1]);
        steps.put([2]);
        // Long enough for another one to begin, if any would.
        assert!(timeout_at(Instant::now() + HEAD_START * 4, batches.recv()).await.is_err());
        steps.put([3]);
        steps.may_end.notify_one();
        assert_eq!(batches.recv().await.unwrap(), [2, 3]);
    }

    #[tokio::test]
    async fn what_has_waited_for_long_waits_no_longer_for_one_that_is_at_work() {
        let (steps, mut batches) = Steps::new(HEAD_START).await;
        steps.put([1]);
        assert_eq!(batches.recv().await.unwrap(), [1]);
        let begin = Instant::now();
        steps.put([2, 3]);
        assert_eq!(batches.recv().await.unwrap(), [2, 3]);
        assert!(begin.elapsed() >= HEAD_START);
    }

    #[tokio::test]
    async fn a_full_batch_waits_for_nobody_who_is_at_work() {
        let (steps, mut batches) = Steps::new(Duration::from_hours(1)).await;
        steps.put([1]);
        assert_eq!(batches.recv().await.unwrap(), [1]);
        steps.put([2, 3, 4, 5]);
        assert_eq!(batches.recv().await.unwrap(), [2, 3, 4]);
        steps.may_end.notify_waiters();
        assert_eq!(batches.recv().await.unwrap(), [5]);
    }

    #[tokio::test]
    async fn one_that_is_idle_helps_out_too() {
        let (steps, mut batches) = Steps::new(HEAD_START).await;
        steps.put([1]);
        assert_eq!(batches.recv().await.unwrap(), [1]);
        steps.put([2]);
        assert_eq!(batches.recv().await.unwrap(), [2]);
        // Both have a connection now, and wait for something to do.
        steps.may_end.notify_waiters();
        while steps.queue.0.lock().idle < 2 {
            tokio::task::yield_now().await;
        }
        for n in 3..6 {
            steps.put([n]);
            assert_eq!(batches.recv().await.unwrap(), [n]);
            if n > 3 {
                steps.may_end.notify_one();
            }
        }
    }
}
