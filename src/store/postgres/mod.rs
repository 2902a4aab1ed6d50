//! Lists on `PostgreSQL`, shared by any number of processes.

mod columns;
mod commit;
mod feed;
mod prepared;
mod read;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::{Connection, Executor, Postgres};
use tokio::sync::oneshot;

use super::queue::Queue;
use super::write::Write;
use super::{
    AnswerKey, Commit, Committed, ListStore, Loaded, OpenError, Refreshed, StoreError, StoreOptions, ThreadEntry,
    ThreadQuery, rows, sql,
};
use crate::domain::{Change, Moment, Revision, ThreadKey, Version};

use feed::Announcements;
use prepared::Prepared;
use read::Read;

/// The statements of this database alone, but for the commit, whose text depends on its batch.
const STATEMENTS: [&str; 8] = [
    read::READ,
    sql::POSTGRES_LOAD_WITH_ANSWER,
    feed::POSITIONS,
    feed::CHANGES_AFTER,
    feed::RESOURCE_CHANGES,
    feed::HAS_CHANGES_FROM,
    feed::THREADS_WITH_ENDED_LEASES,
    feed::ANNOUNCE,
];

/// What every connection is told once.
///
/// Plans made while a table is empty would go on to scan it when it is full; every statement here finds its rows by an
/// index, one after the other. Such plans look dear to the planner, which would then compile them. They are the best for
/// any number of threads at once, so there is no need to plan anew for every batch.
const SETTINGS: &str = "
set enable_seqscan = off;
set enable_hashjoin = off;
set enable_mergejoin = off;
set jit = off;
set plan_cache_mode = force_generic_plan;
set statement_timeout = '30s'";

/// Held while tables are brought up to date. It ends with the transaction, so that it also works where a pooler hands each
/// transaction to another session.
const MIGRATION_LOCK: &str = "select pg_advisory_xact_lock(7810281174690425445)";

/// A connection that was used more recently is not asked whether it still is one.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// How long to wait for an answer. The server gives up before that, so the connection must have been lost silently.
const ANSWER_MAX: Duration = Duration::from_secs(35);

/// The most connections that commits are sent on. While one batch is being made durable, the next one gathers: the fewer
/// there are, the more goes into each; a second one so that a large commit does not hold up all others.
const COMMIT_CONNECTIONS: usize = 2;
/// The most connections that lists are read on.
const READ_CONNECTIONS: usize = 2;

/// Lists on `PostgreSQL`.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    pool: PgPool,
    announcements: Option<Arc<Announcements>>,
    reads: Queue<Postgres, Read>,
    writes: Queue<Postgres, Write<Prepared>>,
}

impl PostgresStore {
    /// Returns every statement that is sent while it runs.
    #[must_use]
    pub fn statements() -> Vec<String> {
        let texts = STATEMENTS.into_iter().chain(sql::SHARED).map(str::to_owned);
        texts.chain([commit::Parts::ALL.statement()]).collect()
    }

    /// Connects, and brings the tables up to date.
    ///
    /// # Errors
    /// [`OpenError::Connect`] or [`OpenError::Migrate`].
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let mut connect = PgConnectOptions::from_str(url).map_err(OpenError::Connect)?;
        if connect.get_application_name().is_none() {
            connect = connect.application_name("tasklane");
        }
        let pool = PgPoolOptions::new()
            .max_connections(options.connections_max)
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .before_acquire(|connection, used| {
                Box::pin(async move {
                    if used.idle_for > TRUSTED_IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .after_connect(|connection, _| {
                Box::pin(async move {
                    connection.execute(SETTINGS).await?;
                    Ok(())
                })
            })
            .connect_with(connect.clone())
            .await
            .map_err(OpenError::Connect)?;
        let announcements = options.announces.then(|| Arc::new(Announcements::new(connect, options)));
        let reads = Queue::new(pool.clone(), READ_CONNECTIONS);
        let writes = Queue::new(pool.clone(), COMMIT_CONNECTIONS);
        let store = Self { pool, announcements, reads, writes };
        store.migrate().await.map_err(OpenError::Migrate)?;
        Ok(store)
    }

    /// Applies new migrations in one transaction, all or none. Others who start meanwhile wait, and find them applied.
    async fn migrate(&self) -> Result<(), sqlx::migrate::MigrateError> {
        let mut migrator = sqlx::migrate!("migrations/postgres");
        migrator.set_locking(false);
        let mut transaction = self.pool.begin().await?;
        transaction.execute("set local statement_timeout = 0").await?;
        transaction.execute(MIGRATION_LOCK).await?;
        // `run` does the same, but its future cannot be sent between threads.
        migrator.run_direct(None, &mut *transaction, false).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Stores several commits, of different threads, in one statement: each happens or not, whatever becomes of the others.
    ///
    /// Answers in the order of the commits. Of several commits of one thread at most one happens.
    ///
    /// # Errors
    /// As [`ListStore::commit`], for all of them.
    pub async fn commit_all(&self, commits: &[&Commit]) -> Result<Vec<Committed>, StoreError> {
        let commits: Vec<Prepared> = commits.iter().map(|commit| Prepared::of(commit)).collect();
        let mut connection = self.connection().await?;
        commit::commit(&mut connection, &commits).await
    }

    async fn read(&self, key: &ThreadKey, known: Option<Version>) -> Result<Refreshed, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.reads.put(Read { key: key.clone(), known, reply });
        // Only a panic leaves somebody without an answer.
        answer.await.unwrap_or(Err(StoreError::Unavailable(sqlx::Error::WorkerCrashed)))
    }

    async fn connection(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        self.pool.acquire().await.map_err(StoreError::Unavailable)
    }
}

#[async_trait]
impl ListStore for PostgresStore {
    async fn load(&self, key: &ThreadKey, kept: Option<&AnswerKey>) -> Result<Loaded, StoreError> {
        let Some(kept) = kept else { return self.read(key, None).await.map(read::loaded) };
        let query = sqlx::query(sql::POSTGRES_LOAD_WITH_ANSWER)
            .bind(key.resource.as_str())
            .bind(key.thread.as_str())
            .bind(kept.actor.as_str())
            .bind(&kept.operation)
            .bind(&kept.key);
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::loaded(&rows, key, None)
    }

    async fn refresh(&self, key: &ThreadKey, known: Version) -> Result<Refreshed, StoreError> {
        self.read(key, Some(known)).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.writes.put(Write { commit: Prepared::of(commit), reply });
        // Only a panic leaves somebody without an answer.
        answer.await.unwrap_or(Err(StoreError::Unknown(sqlx::Error::WorkerCrashed)))
    }

    async fn contains(&self, key: &ThreadKey, version: Version) -> Result<bool, StoreError> {
        let query =
            sqlx::query_scalar(sql::CONTAINS).bind(key.resource.as_str()).bind(key.thread.as_str()).bind(version.get());
        let mut connection = self.connection().await?;
        query.fetch_one(&mut *connection).await.map_err(read_error)
    }

    async fn changes(&self, key: &ThreadKey, after: Revision, limit: u32) -> Result<Vec<Change>, StoreError> {
        let query = sqlx::query(sql::CHANGES)
            .bind(key.resource.as_str())
            .bind(key.thread.as_str())
            .bind(after.get())
            .bind(i64::from(limit));
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::changes(&rows, key)
    }

    async fn forget_changes(&self, key: &ThreadKey, up_to: Revision) -> Result<(), StoreError> {
        let query =
            sqlx::query(sql::FORGET_CHANGES).bind(key.resource.as_str()).bind(key.thread.as_str()).bind(up_to.get());
        let mut connection = self.connection().await?;
        query.execute(&mut *connection).await.map_err(read_error)?;
        Ok(())
    }

    async fn forget_older(&self, changes: Moment, answers: Moment, limit: u32) -> Result<u64, StoreError> {
        let changes = sqlx::query(sql::FORGET_OLD_CHANGES).bind(changes).bind(i64::from(limit));
        let answers = sqlx::query(sql::FORGET_OLD_ANSWERS).bind(answers).bind(i64::from(limit));
        let mut connection = self.connection().await?;
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
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = statement.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::entries(&rows, &query.resource)
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let mut connection = self.connection().await?;
        sqlx::query(sql::PING).execute(&mut *connection).await.map_err(read_error)?;
        Ok(())
    }

    async fn close(&self) {
        if let Some(announcements) = &self.announcements {
            announcements.close().await;
        }
        self.pool.close().await;
    }
}

/// Waits for the answer to a statement, but not for ever.
async fn in_time<T>(answer: impl Future<Output = Result<T, sqlx::Error>> + Send) -> Result<T, sqlx::Error> {
    let late = |_| sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::TimedOut));
    tokio::time::timeout(ANSWER_MAX, answer).await.map_err(late)?
}

/// A statement that only reads may be sent again whenever the database did not refuse it.
fn read_error(error: sqlx::Error) -> StoreError {
    if broke(&error) { StoreError::Unavailable(error) } else { StoreError::Database(error) }
}

/// Tells whether the connection ended before the database's answer to a statement came.
fn broke(error: &sqlx::Error) -> bool {
    match error {
        // 08: connection exceptions, as poolers send them. 57P: the server ends the session, or shuts down, or starts.
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| code.starts_with("08") || code.starts_with("57P") || code == "40003")
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed => true,
        // What else there is comes from the statement or its values: it names a bug, not an outage.
        _ => false,
    }
}
