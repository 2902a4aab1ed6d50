//! A clock that tests can turn, and that tells when a commit is about to be made.

use chrono::TimeDelta;
use tasklane::clock::{Clock, SystemClock};
use tasklane::domain::{Moment, Version};
use tokio::sync::watch;

/// The system's clock, some days ahead.
#[derive(Debug)]
pub(crate) struct TestClock {
    days_ahead: i64,
    versions_drawn: watch::Sender<u64>,
}

impl TestClock {
    pub(crate) fn days_ahead(days_ahead: i64) -> Self {
        Self { days_ahead, versions_drawn: watch::Sender::new(0) }
    }

    /// Returns how many versions have been drawn: each is of a write that has been decided or soon will be, and is not
    /// stored yet.
    pub(crate) fn versions_drawn(&self) -> u64 {
        *self.versions_drawn.borrow()
    }

    /// Waits until more than so many versions have been drawn.
    pub(crate) async fn wait_for_version_after(&self, count: u64) {
        let mut drawn = self.versions_drawn.subscribe();
        drawn.wait_for(|drawn| *drawn > count).await.expect("the clock is there");
    }
}

impl Clock for TestClock {
    fn now(&self) -> Moment {
        SystemClock.now() + TimeDelta::days(self.days_ahead)
    }

    fn draw_version(&self) -> Version {
        self.versions_drawn.send_modify(|drawn| *drawn += 1);
        SystemClock.draw_version()
    }

    fn draw_secret(&self) -> u64 {
        SystemClock.draw_secret()
    }
}
