//! Keeps lists: a narrow trait, and `PostgreSQL` and `SQLite` behind it. It knows what a list is, not what may happen to one.
//!
//! A commit names the version that was read. It happens entirely or not at all, and only if that version still is the
//! newest; nothing is ever locked while somebody decides.

mod feed;
mod postgres;
mod queue;
mod rows;
mod sql;
mod sqlite;
mod write;

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::{
    Actor, Change, Moment, ResourceId, Revision, Task, TaskId, TaskList, ThreadId, ThreadKey, Version,
};

pub use feed::{ChangeFeed, Hearing, Notice, Page, Place, Placed, Position, resource_number, thread_number};
pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;

/// What both databases do.
#[async_trait]
pub trait ListStore: ChangeFeed {
    /// Loads a list and, if asked for, the answer kept under a key, as one consistent state in one statement.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Corrupt`] or [`StoreError::Database`].
    async fn load(&self, key: &ThreadKey, kept: Option<&AnswerKey>) -> Result<Loaded, StoreError>;

    /// Loads a list unless its version still is the one that the caller knows. Asks the database after the call, and joins
    /// no question that was under way before it.
    ///
    /// # Errors
    /// As [`ListStore::load`].
    async fn refresh(&self, key: &ThreadKey, known: Version) -> Result<Refreshed, StoreError> {
        let loaded = self.load(key, None).await?;
        if loaded.version == Some(known) { Ok(Refreshed::Same { at: loaded.at }) } else { Ok(Refreshed::Other(loaded)) }
    }

    /// Stores a commit if the version that it expects still is the newest.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if it may have happened: ask [`ListStore::contains`] *after* the next load, never before,
    /// since the statement may still be running. After every other error nothing has happened.
    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError>;

    /// Tells whether a commit with this version has happened and left a trace: it is the newest, or a change or an
    /// answer of it is kept.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn contains(&self, key: &ThreadKey, version: Version) -> Result<bool, StoreError>;

    /// Returns changes of a list that are still kept, oldest first, from the one after a revision on.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Corrupt`] or [`StoreError::Database`].
    async fn changes(&self, key: &ThreadKey, after: Revision, limit: u32) -> Result<Vec<Change>, StoreError>;

    /// Forgets a list's changes up to and including a revision.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn forget_changes(&self, key: &ThreadKey, up_to: Revision) -> Result<(), StoreError>;

    /// Forgets some changes (never a list's newest) and some answers from before two moments, and returns how many rows
    /// the larger share was: `limit` if there may be more.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn forget_older(&self, changes: Moment, answers: Moment, limit: u32) -> Result<u64, StoreError>;

    /// Returns the threads of a resource that were written and not deleted since, newest activity first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Corrupt`] or [`StoreError::Database`].
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadEntry>, StoreError>;

    /// Asks the database whether it answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Database`].
    async fn ping(&self) -> Result<(), StoreError>;

    /// Lets running statements end and closes all connections.
    async fn close(&self);
}

/// A list as it was read.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The list; the empty one at revision 0 where none was ever written.
    pub list: TaskList,
    /// The version that a commit must name; `None` where no row of the thread exists.
    pub version: Option<Version>,
    /// The answer kept under the key that was asked for.
    pub kept: Option<KeptAnswer>,
    /// The moment of the statement by the database's clock.
    pub at: Moment,
}

/// What became of a list since it was loaded.
#[derive(Debug, Clone)]
pub enum Refreshed {
    /// Nothing: its version is the one that the caller knows.
    Same {
        /// The moment of the statement by the database's clock.
        at: Moment,
    },
    /// It is another one.
    Other(Loaded),
}

/// What one commit stores. Several operations on one list may be one commit, each with its own change and answer.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Whose list.
    pub key: ThreadKey,
    /// The version that was read; `None` if there was no row.
    pub expected: Option<Version>,
    /// The version that this commit makes: random, drawn for this attempt alone.
    pub version: Version,
    /// The list as it is from now on. Its tasks are stored only as far as `upserts` and `removals` name them.
    pub list: TaskList,
    /// Tasks to store as they are here.
    pub upserts: Vec<Arc<Task>>,
    /// Tasks to remove.
    pub removals: Vec<TaskId>,
    /// What readers can see of it, oldest first; empty for a commit that no reader sees.
    pub changes: Vec<Change>,
    /// Answers to keep for repeated calls.
    pub answers: Vec<(AnswerKey, KeptAnswer)>,
    /// Whether all earlier changes are forgotten: the thread is deleted.
    pub forgets_changes: bool,
    /// When.
    pub at: Moment,
}

/// How a commit ended, if it ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// It is stored.
    Done,
    /// The version was not the newest any more: nothing happened, read again.
    Conflict,
}

/// Under what an answer is kept, besides the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerKey {
    /// Who called.
    pub actor: Actor,
    /// What was called.
    pub operation: String,
    /// The caller's key.
    pub key: String,
}

/// An answer kept for repeated calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// Tells this call from another one under the same key.
    pub fingerprint: String,
    /// The whole answer, as its edge wrote it down.
    pub answer: String,
}

/// Which threads are asked for.
#[derive(Debug, Clone)]
pub struct ThreadQuery {
    /// Whose threads.
    pub resource: ResourceId,
    /// Only those that come after this place; from the start if there is none.
    pub after: Option<ThreadPlace>,
    /// The most entries to return.
    pub limit: u32,
}

/// Where a thread stands in the order of newest activity first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadPlace {
    /// When its list last changed.
    pub updated_at: Moment,
    /// Its id, which orders threads of one moment.
    pub thread: ThreadId,
}

/// A thread in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadEntry {
    /// Its id.
    pub thread: ThreadId,
    /// The revision of its list.
    pub revision: Revision,
    /// How many tasks it has, and how far they are.
    pub counts: crate::domain::Counts,
    /// When its list was first written.
    pub created_at: Moment,
    /// When its list last changed.
    pub updated_at: Moment,
}

/// Why the store did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database could not be asked; nothing has happened.
    #[error("the database cannot be reached")]
    Unavailable(#[source] sqlx::Error),
    /// The connection broke during a commit, which may or may not have happened.
    #[error("the connection broke during a commit")]
    Unknown(#[source] sqlx::Error),
    /// What is stored breaks the rules of the domain.
    #[error("table {table}, row {row}: column {column} holds what it must not")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The key of the row.
        row: String,
        /// The column.
        column: &'static str,
    },
    /// The database refused the statement; nothing has happened.
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// Returns the error for another one whose request was part of the same statement.
    fn for_another(&self) -> Self {
        let shared = |error: &sqlx::Error| sqlx::Error::Io(std::io::Error::other(error.to_string()));
        match self {
            Self::Unavailable(error) => Self::Unavailable(shared(error)),
            Self::Unknown(error) => Self::Unknown(shared(error)),
            Self::Database(error) => Self::Database(shared(error)),
            Self::Corrupt { table, row, column } => Self::Corrupt { table, row: row.clone(), column },
        }
    }
}

/// How to connect.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The most connections to the database.
    pub connections_max: u32,
    /// How long to wait for a free connection.
    pub acquire_timeout: std::time::Duration,
    /// Whether processes tell each other of changes where the database has a channel for it. That needs sessions: behind a
    /// pooler that hands each transaction to another one, nothing would be heard.
    pub announces: bool,
}

/// Connects to the database that the URL's scheme names (`sqlite:`, `postgres:` or `postgresql:`) and brings its tables up
/// to date. Several processes may do so at once.
///
/// # Errors
/// The scheme is neither, the database cannot be reached, or a migration fails.
pub async fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn ListStore>, OpenError> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => Ok(Arc::new(SqliteStore::open(url, options).await?)),
        Some("postgres" | "postgresql") => Ok(Arc::new(PostgresStore::open(url, options).await?)),
        _ => Err(OpenError::Scheme),
    }
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL names no database that is known here.
    #[error("the database URL must begin with sqlite: or postgres:")]
    Scheme,
    /// The URL is malformed, or the database cannot be reached.
    #[error("cannot connect to the database")]
    Connect(#[source] sqlx::Error),
    /// The tables could not be brought up to date.
    #[error("cannot migrate the database")]
    Migrate(#[source] sqlx::migrate::MigrateError),
}
