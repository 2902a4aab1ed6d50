//! A new database for each test, removed when the test has ended, however it ends.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, Row, SqlSafeStr};
use tasklane::store::{self, ListStore, StoreOptions};

use super::proxy::Proxy;

/// A database that no other test knows.
#[derive(Debug, Clone)]
pub(crate) struct TestDatabase {
    kind: Kind,
    url: String,
}

/// Which database it is, for the few tests that look inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Postgres,
    Sqlite,
}

/// Keeps everybody from writing as long as it is there.
#[derive(Debug)]
pub(crate) enum Block {
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

impl Block {
    /// Lets others write again.
    pub(crate) async fn lift(self) {
        match self {
            Self::Postgres(mut connection) => connection.execute("rollback").await.map(drop),
            Self::Sqlite(mut connection) => connection.execute("rollback").await.map(drop),
        }
        .expect("the transaction ends");
    }
}

/// Options for tests: more connections than they need, and more time.
pub(crate) fn options() -> StoreOptions {
    StoreOptions { connections_max: 4, acquire_timeout: Duration::from_secs(30), announces: true }
}

impl TestDatabase {
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the URL, for another process or another store.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the same database, reached over a wire that can be cut.
    pub(crate) fn behind(&self, proxy: &Proxy) -> Self {
        Self { kind: self.kind, url: proxy.url().to_owned() }
    }

    /// Opens a store, as each process does for itself.
    pub(crate) async fn open(&self) -> Arc<dyn ListStore> {
        store::open(&self.url, &options()).await.expect("the test's database opens")
    }

    /// Does something behind the store's back.
    pub(crate) async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match self.kind {
            Kind::Postgres => self.postgres().await.execute(sql).await.map(drop),
            Kind::Sqlite => self.sqlite().await.execute(sql).await.map(drop),
        }
        .expect("the statement runs");
    }

    /// Asks for one number behind the store's back.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let sql = AssertSqlSafe(sql.to_owned());
        match self.kind {
            Kind::Postgres => self.postgres().await.fetch_one(sql).await.and_then(|row| row.try_get(0)),
            Kind::Sqlite => self.sqlite().await.fetch_one(sql).await.and_then(|row| row.try_get(0)),
        }
        .expect("the query answers with a number")
    }

    /// Lets the database parse a statement and find its tables and columns.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<(), sqlx::Error> {
        let sql = AssertSqlSafe(sql);
        match self.kind {
            Kind::Postgres => self.postgres().await.prepare(sql.into_sql_str()).await.map(drop),
            Kind::Sqlite => self.sqlite().await.prepare(sql.into_sql_str()).await.map(drop),
        }
    }

    /// Lets nobody write until the block is lifted; reading goes on.
    pub(crate) async fn block_writes(&self) -> Block {
        match self.kind {
            Kind::Postgres => {
                let mut connection = self.postgres().await;
                connection.execute("begin").await.expect("a transaction");
                connection.execute("lock table thread in exclusive mode").await.expect("the lock");
                Block::Postgres(connection)
            }
            Kind::Sqlite => {
                let mut connection = self.sqlite().await;
                connection.execute("begin immediate").await.expect("the lock");
                Block::Sqlite(connection)
            }
        }
    }

    /// Waits until so many of the stores' sessions are as described; on `PostgreSQL` only.
    pub(crate) async fn wait_for_sessions(&self, condition: &str, count: i64) {
        let mut admin = self.postgres().await;
        let query = format!(
            "select count(*) from pg_stat_activity
            where datname = current_database() and application_name = 'tasklane' and {condition}"
        );
        loop {
            let row = admin.fetch_one(AssertSqlSafe(query.as_str())).await.expect("the query runs");
            if row.get::<i64, _>(0) == count {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn postgres(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the test's database answers")
    }

    async fn sqlite(&self) -> SqliteConnection {
        SqliteConnection::connect(&self.url).await.expect("the test's database answers")
    }
}

/// Runs a test on a new database of the server that `TEST_POSTGRES_URL` names.
pub(crate) async fn on_postgres<T: Future<Output = ()> + Send + 'static>(test: impl FnOnce(TestDatabase) -> T) {
    let server = std::env::var("TEST_POSTGRES_URL").expect(
        "TEST_POSTGRES_URL names a PostgreSQL server where databases may be made: scripts/test starts one and sets it",
    );
    let name = format!("tasklane_test_{:016x}", rand::random::<u64>());
    let (before, after) = split_at_database(&server);
    let database = TestDatabase { kind: Kind::Postgres, url: format!("{before}{name}{after}") };

    let mut admin = PgConnection::connect(&server).await.expect("the server of TEST_POSTGRES_URL answers");
    // From template0, which nobody is ever connected to: a template in use cannot be copied.
    admin.execute(AssertSqlSafe(format!("create database {name} template template0"))).await.expect("a new database");
    let outcome = tokio::spawn(test(database)).await;
    admin.execute(AssertSqlSafe(format!("drop database {name} with (force)"))).await.expect("the database goes");
    pass_on(outcome);
}

/// Runs a test on a new file.
pub(crate) async fn on_sqlite<T: Future<Output = ()> + Send + 'static>(test: impl FnOnce(TestDatabase) -> T) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file: PathBuf = folder.path().join("tasklane.db");
    let url = format!("sqlite://{}", file.display());
    pass_on(tokio::spawn(test(TestDatabase { kind: Kind::Sqlite, url })).await);
}

fn pass_on(outcome: Result<(), tokio::task::JoinError>) {
    if let Err(error) = outcome {
        std::panic::resume_unwind(error.into_panic());
    }
}

/// Splits a URL before and after the name of its database.
fn split_at_database(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let start = url[host..].find('/').map_or(url.len(), |at| host + at + 1);
    let end = url[start..].find('?').map_or(url.len(), |at| start + at);
    assert!(start < url.len(), "TEST_POSTGRES_URL names a database, like postgres://user@host/postgres");
    (&url[..start], &url[end..])
}
