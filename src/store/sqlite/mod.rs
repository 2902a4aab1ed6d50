//! Lists in one `SQLite` file, which several processes of one machine may share.

mod commit;
mod feed;

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::error::DatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{Connection, Sqlite, Transaction};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::queue::Queue;
use super::write::{Storable, Write};
use super::{
    AnswerKey, Commit, Committed, ListStore, Loaded, OpenError, Refreshed, StoreError, StoreOptions, ThreadEntry,
    ThreadQuery, rows, sql,
};
use crate::domain::{Change, Moment, Revision, ThreadKey, Version};

/// The statements of this database alone.
const STATEMENTS: [&str; 15] = [
    sql::SQLITE_LOAD,
    sql::SQLITE_LOAD_WITH_ANSWER,
    sql::SQLITE_VERSION,
    commit::MOVE_THREAD,
    commit::BEAR_THREAD,
    commit::REMOVE_TASK,
    commit::UPSERT_TASK,
    commit::FORGET_CHANGES,
    commit::INSERT_CHANGE,
    commit::KEEP_ANSWER,
    feed::POSITIONS,
    feed::CHANGES_AFTER,
    feed::RESOURCE_CHANGES,
    feed::HAS_CHANGES_FROM,
    feed::THREADS_WITH_ENDED_LEASES,
];

/// How long to wait before asking again where `SQLite` itself does not wait: while a new file is given its journal.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Lists in one `SQLite` file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    /// The one connection that writes: there can only be one writer, and here it waits its turn in order.
    writer: SqlitePool,
    /// Connections that read, beside the writer and each other.
    readers: SqlitePool,
    writes: Queue<Sqlite, Write<Commit>>,
}

impl SqliteStore {
    /// Returns every statement that is sent while it runs.
    #[must_use]
    pub fn statements() -> Vec<String> {
        STATEMENTS.into_iter().chain(sql::SHARED).map(str::to_owned).collect()
    }

    /// Opens the file, makes it if there is none, and brings the tables up to date.
    ///
    /// # Errors
    /// [`OpenError::Connect`] or [`OpenError::Migrate`].
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let connect = SqliteConnectOptions::from_str(url)
            .map_err(OpenError::Connect)?
            // For the end of another process's transaction, as for a connection.
            .busy_timeout(options.acquire_timeout);
        let deadline = Instant::now() + options.acquire_timeout;
        let writing = connect
            .clone()
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        // Kept open as long as the store is: closing the last connection would write the log back and remove it, and a
        // database in memory ends with it.
        let one = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(options.acquire_timeout);
        let writer = loop {
            match one.clone().connect_with(writing.clone()).await {
                Ok(pool) => break pool,
                Err(error) if is_busy(&error) && Instant::now() < deadline => tokio::time::sleep(BUSY_PAUSE).await,
                Err(error) => return Err(OpenError::Connect(error)),
            }
        };
        migrate(&writer).await.map_err(OpenError::Migrate)?;
        if is_in_memory(url) {
            return Ok(Self { readers: writer.clone(), writes: Queue::new(writer.clone(), 1), writer });
        }
        let readers = SqlitePoolOptions::new()
            .max_connections(options.connections_max.max(1))
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .connect_with(connect.pragma("query_only", "on"))
            .await
            .map_err(OpenError::Connect)?;
        Ok(Self { writes: Queue::new(writer.clone(), 1), writer, readers })
    }

    /// Stores several commits in one transaction: each happens or not, whatever becomes of the others.
    ///
    /// Answers in the order of the commits.
    ///
    /// # Errors
    /// As [`ListStore::commit`], for all of them.
    pub async fn commit_all(&self, commits: &[&Commit]) -> Result<Vec<Committed>, StoreError> {
        let commits: Vec<Commit> = commits.iter().copied().cloned().collect();
        let mut writer = self.writer().await?;
        Commit::store(&mut writer, &commits).await
    }

    async fn writer(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        self.writer.acquire().await.map_err(StoreError::Unavailable)
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        self.readers.acquire().await.map_err(StoreError::Unavailable)
    }
}

/// Applies new migrations in one transaction, all or none. Others who start meanwhile wait, and find them applied.
async fn migrate(writer: &SqlitePool) -> Result<(), sqlx::migrate::MigrateError> {
    let mut writer = writer.acquire().await?;
    let mut transaction = begin(&mut writer).await?;
    // `run` does the same, but its future cannot be sent between threads.
    sqlx::migrate!("migrations/sqlite").run_direct(None, &mut *transaction, false).await?;
    transaction.commit().await?;
    Ok(())
}

/// Begins by becoming the writer: a transaction that read first could not become it any more once another one had written.
async fn begin(writer: &mut SqliteConnection) -> Result<Transaction<'_, Sqlite>, sqlx::Error> {
    writer.begin_with("begin immediate").await
}

#[async_trait]
impl ListStore for SqliteStore {
    async fn load(&self, key: &ThreadKey, kept: Option<&AnswerKey>) -> Result<Loaded, StoreError> {
        let mut query = sqlx::query(if kept.is_some() { sql::SQLITE_LOAD_WITH_ANSWER } else { sql::SQLITE_LOAD })
            .bind(key.resource.as_str())
            .bind(key.thread.as_str());
        if let Some(kept) = kept {
            query = query.bind(kept.actor.as_str()).bind(&kept.operation).bind(&kept.key);
        }
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::loaded(&rows, key, None)
    }

    async fn refresh(&self, key: &ThreadKey, known: Version) -> Result<Refreshed, StoreError> {
        let query = sqlx::query_as(sql::SQLITE_VERSION).bind(key.resource.as_str()).bind(key.thread.as_str());
        let mut connection = self.reader().await?;
        let (version, at, _): (Option<i64>, Moment, bool) =
            query.fetch_one(&mut *connection).await.map_err(read_error)?;
        drop(connection);
        if version == Some(known.get()) {
            return Ok(Refreshed::Same { at });
        }
        self.load(key, None).await.map(Refreshed::Other)
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.writes.put(Write { commit: commit.clone(), reply });
        // Only a panic leaves somebody without an answer.
        answer.await.unwrap_or(Err(StoreError::Unknown(sqlx::Error::WorkerCrashed)))
    }

    async fn contains(&self, key: &ThreadKey, version: Version) -> Result<bool, StoreError> {
        let query =
            sqlx::query_scalar(sql::CONTAINS).bind(key.resource.as_str()).bind(key.thread.as_str()).bind(version.get());
        let mut connection = self.reader().await?;
        query.fetch_one(&mut *connection).await.map_err(read_error)
    }

    async fn changes(&self, key: &ThreadKey, after: Revision, limit: u32) -> Result<Vec<Change>, StoreError> {
        let query = sqlx::query(sql::CHANGES)
            .bind(key.resource.as_str())
            .bind(key.thread.as_str())
            .bind(after.get())
            .bind(i64::from(limit));
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::changes(&rows, key)
    }

    async fn forget_changes(&self, key: &ThreadKey, up_to: Revision) -> Result<(), StoreError> {
        let query =
            sqlx::query(sql::FORGET_CHANGES).bind(key.resource.as_str()).bind(key.thread.as_str()).bind(up_to.get());
        let mut connection = self.writer().await?;
        query.execute(&mut *connection).await.map_err(read_error)?;
        Ok(())
    }

    async fn forget_older(&self, changes: Moment, answers: Moment, limit: u32) -> Result<u64, StoreError> {
        let changes = sqlx::query(sql::FORGET_OLD_CHANGES).bind(changes).bind(i64::from(limit));
        let answers = sqlx::query(sql::FORGET_OLD_ANSWERS).bind(answers).bind(i64::from(limit));
        let mut connection = self.writer().await?;
        let changes = changes.execute(&mut *connection).await.map_err(read_error)?.rows_affected();
        let answers = answers.execute(&mut *connection).await.map_err(read_error)?.rows_affected();
        Ok(changes.max(answers))
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadEntry>, StoreError> {
        let (minute, updated_at, thread) = rows::page_start(query.after.as_ref());
        let statement = sqlx::query(sql::THREADS)
            .bind(query.resource.as_str())
            .bind(minute)
            .bind(updated_at)
            .bind(thread)
            .bind(i64::from(query.limit));
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = statement.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::entries(&rows, &query.resource)
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let mut connection = self.reader().await?;
        sqlx::query(sql::PING).execute(&mut *connection).await.map_err(read_error)?;
        Ok(())
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn is_in_memory(url: &str) -> bool {
    url.contains(":memory:") || url.contains("mode=memory")
}

/// The error of a statement after which nothing has happened: a transaction that did not commit is undone.
fn read_error(error: sqlx::Error) -> StoreError {
    let is_out = matches!(
        error,
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed
    );
    if is_out || is_busy(&error) { StoreError::Unavailable(error) } else { StoreError::Database(error) }
}

/// Tells whether somebody else holds the lock: `SQLITE_BUSY` or `SQLITE_LOCKED`.
fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6))
}

/// Returns the result code of `SQLite` without what its upper bytes add.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error().and_then(DatabaseError::code).and_then(|code| code.parse::<i32>().ok());
    code.map(|code| code & 0xff)
}
