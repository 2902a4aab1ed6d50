//! Who calls, and what they may do.

use crate::domain::{Actor, ResourceId, ThreadId, ThreadKey};

/// Who calls. Every call of every edge carries one, so that authentication has one home: whoever makes a `Caller` vouches
/// for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose threads the call is about.
    pub resource: ResourceId,
    /// Whom the history names.
    pub actor: Actor,
    /// What the caller may do.
    pub scopes: Scopes,
}

impl Caller {
    /// Returns the key of one of this caller's threads.
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> ThreadKey {
        ThreadKey { resource: self.resource.clone(), thread }
    }
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes {
    /// See lists.
    pub read: bool,
    /// Change lists.
    pub write: bool,
}

impl Scopes {
    /// Everything: what callers have as long as nobody is asked who they are.
    pub const ALL: Self = Self { read: true, write: true };
}
