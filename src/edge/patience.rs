//! What a request is granted that waits for somebody else: more time, and no place among those that are worked on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

/// Carried by each request from the middleware that limits it to the handler that may have to wait.
#[derive(Debug, Clone, Default)]
pub struct Patience(Arc<Grant>);

#[derive(Debug, Default)]
struct Grant {
    millis: AtomicU64,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Patience {
    /// Lets the request take so much longer, and others be worked on meanwhile.
    pub fn grant(&self, wait: Duration) {
        self.0.millis.fetch_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), Ordering::AcqRel);
        self.hold(None);
    }

    /// Returns how much longer the request may take.
    #[must_use]
    pub fn granted(&self) -> Duration {
        Duration::from_millis(self.0.millis.load(Ordering::Acquire))
    }

    /// Keeps the request's place among those that are worked on, until it waits or ends.
    pub fn hold(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.0.permit.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}
