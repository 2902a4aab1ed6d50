//! The one door to the lists: load, let the domain decide, commit, and on conflict again. Every edge calls it.
//!
//! It knows neither HTTP nor any dialect. What it promises:
//!
//! - What it acknowledges is stored, and an answer leaves only after the commit that it reports.
//! - A change is decided on the newest state and stored on that state or not at all.
//! - A commit whose outcome is unknown is looked up, never repeated blindly.
//! - A caller that goes away cancels nothing.
//! - What is remembered of a list is not told before the database has confirmed that it still is so.

mod cache;
mod caller;
mod change;
mod commit;
mod feed;
mod history;
mod lanes;
mod precondition;
mod since;
mod ticket;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Clock;
use crate::domain::{Actor, Applied, Limits, Moment, Operation, Refusal, Stamp, TaskList, ThreadKey, Version, apply};
use crate::store::{ListStore, Loaded, Refreshed, StoreError, ThreadEntry, ThreadQuery};

pub use caller::{Caller, Scopes};
pub use change::{Answered, ChangeRequest, Done, Retry};
pub use feed::{
    ANNOUNCE_INTERVAL, COMPARE_INTERVAL, Cursor, Following, FollowingResource, Next, NextOfResource, Overview,
    REPAIR_INTERVAL, Told,
};
pub use history::{HistoryQuery, Retention};
pub use precondition::{Precondition, Rule, Tag, Target, Verdict};
pub use since::Known;

use cache::Cache;
use feed::Feed;
use lanes::Lanes;

/// The task lists of all threads.
#[derive(Debug, Clone)]
pub struct Lists(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    store: Arc<dyn ListStore>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    lanes: Lanes,
    feed: Feed,
    cache: Cache,
}

/// What an operator may choose.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The bounds that hold for every list.
    pub limits: Limits,
    /// A call that is not answered within this time is given up.
    pub deadline: Duration,
    /// How long and how many changes and answers are kept.
    pub retention: Retention,
    /// The most bytes of lists that are remembered.
    pub cache_bytes_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            deadline: Duration::from_secs(10),
            retention: Retention::default(),
            cache_bytes_max: 16 * 1024 * 1024,
        }
    }
}

/// Why a call was not answered.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The domain said no; here is the list as it is.
    #[error("the operation was refused")]
    Refused {
        /// Why.
        refusal: Box<Refusal>,
        /// The unchanged list.
        list: Box<TaskList>,
    },
    /// The state is not the one that the caller required; here it is.
    #[error("a precondition failed")]
    PreconditionFailed {
        /// The unchanged list.
        list: Box<TaskList>,
    },
    /// The caller's key was used for another call.
    #[error("the idempotency key was used for another call")]
    KeyReused,
    /// The caller may not do this.
    #[error("the caller's scopes do not allow this")]
    Forbidden,
    /// Others were faster until the call's deadline. Nothing has happened.
    #[error("the list was too busy")]
    Busy,
    /// The call's deadline came while it was not known whether its commit happened.
    #[error("the outcome of a commit could not be found out")]
    Undecided,
    /// The store did not answer.
    #[error("the store did not answer")]
    Store(#[source] Arc<StoreError>),
    /// The process gave up the call without an answer.
    #[error("the call was given up")]
    Stopped,
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

impl Error {
    /// Tells whether the store did not take what it was given.
    fn is_about_data(&self) -> bool {
        matches!(self, Self::Store(error) if matches!(**error, StoreError::Database(_)))
    }
}

impl Lists {
    /// Opens the door to a store.
    #[must_use]
    pub fn new(store: Arc<dyn ListStore>, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let (feed, cache) = (Feed::new(store.announces()), Cache::new(settings.cache_bytes_max));
        Self(Arc::new(Parts { store, clock, settings, lanes: Lanes::default(), feed, cache }))
    }

    /// Returns the bounds that hold for every list.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.settings.limits
    }

    /// Returns a list as it is now.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn read(&self, caller: &Caller, key: &ThreadKey) -> Result<TaskList, Error> {
        may(caller.scopes.read)?;
        self.load_current(key).await
    }

    async fn load_current(&self, key: &ThreadKey) -> Result<TaskList, Error> {
        let loaded = self.current(key, self.deadline()).await?;
        if self.expiry_due(&loaded, Version::default()).is_none() {
            return Ok(loaded.list);
        }
        // What has ended is first made a change, so that no reader sees a state that no revision has.
        let expire = ChangeRequest::new(key.clone(), Operation::Expire);
        match lanes::enqueue(self, Actor::service(), expire).await? {
            Answered::Fresh(done) => Ok(done.list),
            Answered::Replayed(_) => Err(Error::Stopped),
        }
    }

    /// Changes a list and returns what was done, or what was done when the same call came before.
    ///
    /// # Errors
    /// Every [`Error`].
    pub async fn change(&self, caller: &Caller, request: ChangeRequest) -> Result<Answered, Error> {
        may(caller.scopes.write)?;
        lanes::enqueue(self, caller.actor.clone(), request).await
    }

    /// Returns the threads of the caller's resource.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn threads(&self, caller: &Caller, query: &ThreadQuery) -> Result<Vec<ThreadEntry>, Error> {
        may(caller.scopes.read)?;
        self.in_time(self.deadline(), self.0.store.threads(query)).await
    }

    /// Asks the store whether it answers.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Store`].
    pub async fn ping(&self) -> Result<(), Error> {
        self.in_time(self.deadline(), self.0.store.ping()).await
    }

    /// Lets what runs end and closes the store.
    pub async fn close(&self) {
        self.stop_following();
        self.0.store.close().await;
    }

    /// Returns a list as the database has it now: what is remembered if it is that, else loaded.
    async fn current(&self, key: &ThreadKey, deadline: Instant) -> Result<Loaded, Error> {
        let (store, cache) = (&self.0.store, &self.0.cache);
        let Some(remembered) = cache.get(key) else {
            let loaded = self.in_time(deadline, store.load(key, None)).await?;
            cache.replace(key, None, &loaded);
            return Ok(loaded);
        };
        let known = remembered.version();
        match self.in_time(deadline, store.refresh(key, known)).await? {
            Refreshed::Same { at } => Ok(remembered.as_loaded(at)),
            Refreshed::Other(loaded) => {
                cache.replace(key, Some(known), &loaded);
                Ok(loaded)
            }
        }
    }

    /// Gives back what was held by leases that have ended, if there is any.
    fn expiry_due(&self, loaded: &Loaded, version: Version) -> Option<Applied> {
        loaded.list.first_lease_expiry().filter(|expiry| *expiry <= loaded.at)?;
        let stamp = self.stamp(Actor::service(), version, loaded.at);
        apply(&loaded.list, &Operation::Expire, &stamp, self.limits()).ok()
    }

    fn stamp(&self, actor: Actor, change_id: Version, store_at: Moment) -> Stamp {
        let clock = &self.0.clock;
        Stamp { at: clock.now(), change_id, actor, store_at, token: None, secret: clock.draw_secret() }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.0.settings.deadline
    }

    /// Waits for the store, but not past the deadline. Only for what changes nothing: a commit is never given up.
    async fn in_time<T>(
        &self,
        deadline: Instant,
        answer: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, Error> {
        match tokio::time::timeout_at(deadline, answer).await {
            Ok(answer) => answer.map_err(Error::from),
            Err(_) => Err(Error::Busy),
        }
    }
}

fn may(allowed: bool) -> Result<(), Error> {
    if allowed { Ok(()) } else { Err(Error::Forbidden) }
}
