//! Waiting until a list has changed.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Revision, TaskList, ThreadKey};
use crate::service::{Caller, Error, Lists, may};

impl Lists {
    /// Returns the list as soon as it has passed a revision, or as it is when the time is over or the service stops. No
    /// connection to the database is held meanwhile.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn wait(
        &self,
        caller: &Caller,
        key: &ThreadKey,
        seen: Revision,
        timeout: Duration,
    ) -> Result<TaskList, Error> {
        may(caller.scopes.read)?;
        let until = Instant::now() + timeout;
        // Before the list is read, so that no change falls in between.
        let mut watching = self.watch(key).await?;
        watching.moved.mark_unchanged();
        let list = self.load_current(key).await?;
        if list.revision() > seen {
            return Ok(list);
        }
        let passed =
            async { while watching.wait().await && watching.topic.at().is_some_and(|at| at.revision <= seen) {} };
        match tokio::time::timeout_at(until, passed).await {
            // Read again: what the topic knows was enough to wake up for, not to answer with.
            Ok(()) | Err(_) => self.load_current(key).await,
        }
    }
}
