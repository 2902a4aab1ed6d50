//! Waiting for what is to come, and callers that work at the same time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

/// Only what will never happen takes this long.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(2);

/// Asks again and again until there is something, and fails where it never comes.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}: that never happened");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Lets so many callers, counted from 0, work through the items at the same time; returns what came of each, in no order.
pub(crate) async fn at_once<I, T, F>(
    callers: usize,
    items: impl IntoIterator<Item = I>,
    call: impl Fn(usize, I) -> F + Clone + Send + 'static,
) -> Vec<T>
where
    I: Send + 'static,
    T: Send + 'static,
    F: Future<Output = T> + Send,
{
    let items: VecDeque<I> = items.into_iter().collect();
    let items = Arc::new(Mutex::new(items));
    let mut working = JoinSet::new();
    for caller in 0..callers {
        let (items, call) = (Arc::clone(&items), call.clone());
        working.spawn(async move {
            let mut results = Vec::new();
            let next = || items.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            while let Some(item) = next() {
                results.push(call(caller, item).await);
            }
            results
        });
    }
    working.join_all().await.into_iter().flatten().collect()
}
