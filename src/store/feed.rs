//! What a store tells of changes while they happen: where lists stand, what changed since, and, where the database can,
//! a word to other processes.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{Change, ResourceId, Revision, ThreadId, ThreadKey, Version, digest};

/// What followers of changes ask of both databases.
#[async_trait]
pub trait ChangeFeed: Send + Sync + std::fmt::Debug {
    /// Returns where lists stand now, in the order of the keys, as one consistent state.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn positions(&self, keys: &[ThreadKey]) -> Result<Vec<Position>, StoreError>;

    /// Returns for each of several lists, in their order, the changes that are still kept of the `count` revisions after
    /// the given one, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Corrupt`] or [`StoreError::Database`].
    async fn changes_after(&self, after: &[(ThreadKey, Revision)], count: u32) -> Result<Vec<Vec<Change>>, StoreError>;

    /// Returns changes of all threads of a resource from a place on, in the order of their places.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Corrupt`] or [`StoreError::Database`].
    async fn resource_changes(&self, resource: &ResourceId, from: &Place, limit: u32) -> Result<Page, StoreError>;

    /// Tells of each resource, in their order, whether there are changes from a number on, see [`Place::number`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn has_changes_from(&self, from: &[(ResourceId, i64)]) -> Result<Vec<bool>, StoreError>;

    /// Returns threads of these resources in which a lease has ended by the database's clock and nobody has noticed yet.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Corrupt`] or [`StoreError::Database`].
    async fn threads_with_ended_leases(&self, resources: &[ResourceId]) -> Result<Vec<ThreadKey>, StoreError>;

    /// Tells whether this store announces changes to other processes, and can listen to them.
    fn announces(&self) -> bool;

    /// Announces changes that are committed, outside of any transaction that changes a list. May be lost.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn announce(&self, notices: &[Notice]) -> Result<(), StoreError>;

    /// Begins to listen to what all processes announce; `None` where that is not possible.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn listen(&self) -> Result<Option<Box<dyn Hearing>>, StoreError>;
}

/// A connection on which announcements are heard.
#[async_trait]
pub trait Hearing: Send {
    /// Waits for announcements.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] once the connection has ended: what was announced since is lost.
    async fn hear(&mut self) -> Result<Vec<Notice>, StoreError>;
}

/// Where a list stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Its revision.
    pub revision: Revision,
    /// The change that made the revision.
    pub change_id: Version,
    /// Whether a lease has ended by the database's clock and nobody has noticed yet.
    pub has_ended_lease: bool,
}

/// A word from one process to the others: a list has reached a revision. Ids are not told, only numbers made of them, for
/// several words have to fit into a small message; two lists with one number cost whoever hears it a look at the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// The number of the resource.
    pub resource: u64,
    /// The number of the thread.
    pub thread: u64,
    /// The revision that the list has reached.
    pub revision: Revision,
}

impl Notice {
    /// Makes the word for a list.
    #[must_use]
    pub fn of(key: &ThreadKey, revision: Revision) -> Self {
        Self { resource: resource_number(&key.resource), thread: thread_number(key), revision }
    }

    /// Writes it down: at most 50 bytes of ASCII, no comma.
    pub(super) fn written(&self) -> String {
        format!("{:x}.{:x}.{:x}", self.resource, self.thread, self.revision.get())
    }

    /// Reads what [`Notice::written`] wrote.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| u64::from_str_radix(part, 16).ok());
        let notice = Self {
            resource: parts.next()??,
            thread: parts.next()??,
            revision: Revision::new(parts.next()??.cast_signed()),
        };
        parts.next().is_none().then_some(notice)
    }
}

/// Returns the number that stands for a resource in a [`Notice`].
#[must_use]
pub fn resource_number(resource: &ResourceId) -> u64 {
    folded(digest([resource.as_str()]))
}

/// Returns the number that stands for a thread in a [`Notice`].
#[must_use]
pub fn thread_number(key: &ThreadKey) -> u64 {
    folded(digest([key.resource.as_str(), key.thread.as_str()]))
}

fn folded(digest: u128) -> u64 {
    let bytes = digest.to_le_bytes();
    let (low, high) = bytes.split_at(8);
    let half = |half: &[u8]| half.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte));
    half(low) ^ half(high)
}

/// Where changes of all threads of a resource are read from: after the change of this number, thread and revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The number that the database gave to the commit. Later commits have higher numbers, but may become visible earlier,
    /// see [`Page::horizon`].
    pub number: i64,
    /// The last change of this number that was read; from the first one on if there is none.
    pub after: Option<(ThreadId, Revision)>,
}

impl Place {
    /// The place before all changes from a number on.
    #[must_use]
    pub fn from(number: i64) -> Self {
        Self { number, after: None }
    }
}

/// Some changes of all threads of a resource.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The changes.
    pub changes: Vec<Placed>,
    /// Every commit below this number was visible when the page was read, and none will ever come.
    pub horizon: i64,
}

/// A change of one of a resource's threads.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The number of its commit.
    pub number: i64,
    /// Whose list.
    pub thread: ThreadId,
    /// Whether the change before it is kept too, or there was none.
    pub follows: bool,
    /// What changed.
    pub change: Change,
}

impl Placed {
    /// Returns the place after it.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { number: self.number, after: Some((self.thread.clone(), self.change.revision)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Notice, Revision};

    #[test]
    fn a_notice_is_read_as_it_was_written() {
        for revision in [0, 1, i64::MAX] {
            let notice = Notice { resource: u64::MAX, thread: 0, revision: Revision::new(revision) };
            assert_eq!(Notice::read(&notice.written()), Some(notice));
            assert!(notice.written().len() <= 50);
        }
        for text in ["", "1", "1.2", "1.2.3.4", "x.2.3", "1.2.-3"] {
            assert_eq!(Notice::read(text), None);
        }
    }
}
