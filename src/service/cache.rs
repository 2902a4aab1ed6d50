//! Lists that were loaded or made lately, so that most calls need not load them again.
//!
//! What is remembered is never believed. A reader's list is shown only after the database has confirmed its version, in a
//! statement that was sent after the reader had come; a writer decides on it, and the commit is the confirmation. So it
//! does not matter who else writes, or whether the database was set back: versions are random, and equal ones mean equal
//! lists.

use std::fmt;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache as Lru;

use crate::domain::{Moment, TaskList, ThreadKey, Version};
use crate::store::Loaded;

/// As many lists are expected at least. A larger number would divide the room into more parts, and a list that is larger
/// than its part is not remembered.
const LISTS_EXPECTED: usize = 64;
/// What a task takes beside its texts, and a list beside its tasks.
const OVERHEAD_BYTES: usize = 512;

/// The lists that are remembered, as many as there is room for.
pub(super) struct Cache {
    lists: Option<Lru<ThreadKey, Arc<Remembered>, ByBytes>>,
}

/// A list as it was at one version.
pub(super) struct Remembered {
    list: TaskList,
    version: Version,
    bytes: usize,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<ThreadKey, Arc<Remembered>> for ByBytes {
    fn weight(&self, _: &ThreadKey, remembered: &Arc<Remembered>) -> u64 {
        remembered.bytes as u64
    }
}

impl Cache {
    /// Makes room for so many bytes of lists; with none, nothing is remembered.
    pub(super) fn new(bytes_max: usize) -> Self {
        let lists = (bytes_max > 0).then(|| Lru::with_weighter(LISTS_EXPECTED, bytes_max as u64, ByBytes));
        Self { lists }
    }

    pub(super) fn get(&self, key: &ThreadKey) -> Option<Arc<Remembered>> {
        self.lists.as_ref()?.get(key)
    }

    /// Remembers a list that a commit has made.
    pub(super) fn put(&self, key: &ThreadKey, list: &TaskList, version: Version) {
        if let Some(lists) = &self.lists {
            lists.insert(key.clone(), Arc::new(Remembered::new(list.clone(), version)));
        }
    }

    /// Remembers a list that was loaded in place of the one that its reader knew. What somebody else has put there
    /// meanwhile is most likely newer.
    pub(super) fn replace(&self, key: &ThreadKey, known: Option<Version>, loaded: &Loaded) {
        let Some(lists) = &self.lists else { return };
        if lists.get(key).map(|remembered| remembered.version) != known {
            return;
        }
        match loaded.version {
            Some(version) => self.put(key, &loaded.list, version),
            None => self.forget(key),
        }
    }

    pub(super) fn forget(&self, key: &ThreadKey) {
        if let Some(lists) = &self.lists {
            lists.remove(key);
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("lists", &self.lists.as_ref().map(Lru::len)).finish()
    }
}

impl Remembered {
    fn new(list: TaskList, version: Version) -> Self {
        let tasks: usize = list.tasks().iter().map(|task| OVERHEAD_BYTES + task.size_bytes()).sum();
        Self { list, version, bytes: OVERHEAD_BYTES + tasks }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Tells whether time alone may change the list.
    pub(super) fn has_leases(&self) -> bool {
        self.list.first_lease_expiry().is_some()
    }

    /// Returns the list as if it had been loaded at this moment.
    pub(super) fn as_loaded(&self, at: Moment) -> Loaded {
        Loaded { list: self.list.clone(), version: Some(self.version), kept: None, at }
    }
}
