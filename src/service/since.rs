//! What a list was when somebody last saw it.

use std::sync::Arc;

use super::{Caller, Error, Lists, may};
use crate::domain::{Change, Revision, Task, TaskList, ThreadKey, replayed_back};

/// How many changes are read at once.
const PAGE: u32 = 200;
/// Over more changes than this no way back is looked for.
const CHANGES_MAX: i64 = 2_000;

/// What somebody knows of a list.
#[derive(Debug, Clone)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// A list that is not kept any more, or never was.
    NotKept,
    /// These tasks; of what a change does not show, such as tokens, only the newest is known.
    Tasks(Vec<Arc<Task>>),
}

impl Lists {
    /// Returns a list as it is, and as it was at a revision that the caller has seen.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::Busy`] or [`Error::Store`].
    pub async fn since(
        &self,
        caller: &Caller,
        key: &ThreadKey,
        seen: Option<Revision>,
    ) -> Result<(TaskList, Known), Error> {
        may(caller.scopes.read)?;
        let list = self.load_current(key).await?;
        let known = match seen {
            None => Known::Nothing,
            Some(seen) => self.tasks_at(key, &list, seen).await?.map_or(Known::NotKept, Known::Tasks),
        };
        Ok((list, known))
    }

    /// Undoes the changes since a revision, if all of them are kept.
    async fn tasks_at(
        &self,
        key: &ThreadKey,
        list: &TaskList,
        seen: Revision,
    ) -> Result<Option<Vec<Arc<Task>>>, Error> {
        let newest = list.revision();
        let was_deleted = list.deleted_at_revision().is_some_and(|deleted| seen < deleted);
        if seen > newest || was_deleted || newest.get() - seen.get() > CHANGES_MAX {
            return Ok(None);
        }
        let mut changes: Vec<Change> = Vec::new();
        let mut at = seen;
        while at < newest {
            let page = self.changes(key, at, PAGE).await?;
            let before = at;
            for change in page.into_iter().filter(|change| change.revision <= newest) {
                if change.revision == at.next() {
                    at = change.revision;
                    changes.push(change);
                }
            }
            if at == before {
                return Ok(None);
            }
        }
        let undone = |tasks: Vec<Arc<Task>>, change: &Change| replayed_back(&tasks, &change.ops);
        Ok(Some(changes.iter().rev().fold(list.tasks().to_vec(), undone)))
    }
}
