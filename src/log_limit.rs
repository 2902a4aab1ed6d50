//! Keeps an event that repeats from flooding the log: the first one is logged, the others are counted, and the count is
//! logged once an interval.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

/// How many causes are told apart within one interval. Further ones are only counted.
const CAUSES_MAX: usize = 8;

/// Limits how often one kind of event is logged. Made to be a `static`.
#[derive(Debug)]
pub struct LogLimit {
    event: &'static str,
    interval: Duration,
    window: Mutex<Option<Window>>,
}

/// What was logged since the first event.
#[derive(Debug)]
struct Window {
    causes: Vec<Box<str>>,
    suppressed: u64,
}

impl LogLimit {
    /// Limits events of this name, such as `requests refused`, to one line per cause and one count an interval.
    #[must_use]
    pub const fn new(event: &'static str, interval: Duration) -> Self {
        Self { event, interval, window: Mutex::new(None) }
    }

    /// Returns whether the caller should log this event. One that should not be logged is counted.
    pub fn admits(&'static self, cause: &str) -> bool {
        // Without a runtime nothing could log the count.
        let Ok(runtime) = Handle::try_current() else { return true };
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *window else {
            *window = Some(Window { causes: vec![cause.into()], suppressed: 0 });
            runtime.spawn(self.report());
            return true;
        };
        let is_new = !open.causes.iter().any(|known| **known == *cause);
        if is_new && open.causes.len() < CAUSES_MAX {
            open.causes.push(cause.into());
            return true;
        }
        open.suppressed += 1;
        false
    }

    /// Logs the count at the end of each interval, until one passes in which nothing was counted.
    async fn report(&'static self) {
        loop {
            sleep(self.interval).await;
            let Some(suppressed) = self.take_count() else { return };
            tracing::warn!(suppressed, "{}: {suppressed} more in {} s", self.event, self.interval.as_secs());
        }
    }

    fn take_count(&self) -> Option<u64> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let count = window.as_mut().map(|open| std::mem::take(&mut open.suppressed)).filter(|count| *count > 0);
        if count.is_none() {
            *window = None;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_event_of_each_cause_is_logged_and_the_others_are_counted() {
        static LIMIT: LogLimit = LogLimit::new("events", Duration::from_secs(1));
        assert!(LIMIT.admits("a"));
        assert!(!LIMIT.admits("a"));
        assert!(LIMIT.admits("b"));
        assert!(!LIMIT.admits("b"));
        sleep(Duration::from_millis(1_500)).await;
        assert!(!LIMIT.admits("a"), "the flood goes on");
        sleep(Duration::from_secs(2)).await;
        assert!(LIMIT.admits("a"), "an interval without events ends it");
    }

    #[tokio::test(start_paused = true)]
    async fn causes_without_end_do_not_flood_either() {
        static LIMIT: LogLimit = LogLimit::new("events", Duration::from_secs(1));
        let logged = (0..100).filter(|n| LIMIT.admits(&n.to_string())).count();
        assert_eq!(logged, CAUSES_MAX);
    }
}
