//! The moment and chance, injected so that tests decide both. The only caller of the system's clock and random source.

use chrono::{SubsecRound, Utc};

use crate::domain::{Moment, Version};

/// Tells the time and draws numbers.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Returns the moment, cut to the microseconds that both databases keep.
    fn now(&self) -> Moment;

    /// Draws the number of a commit. No two draws may ever be equal, on any machine.
    fn draw_version(&self) -> Version;

    /// Draws a number that nobody can guess.
    fn draw_secret(&self) -> u64;
}

/// The system's clock and random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    fn now(&self) -> Moment {
        Utc::now().trunc_subsecs(6)
    }

    fn draw_version(&self) -> Version {
        Version::new(rand::random())
    }

    fn draw_secret(&self) -> u64 {
        rand::random()
    }
}
