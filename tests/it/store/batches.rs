//! What waits while the database is busy becomes one batch, in which nobody suffers for another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, Executor, PgConnection, SqliteConnection};
use tasklane::domain::ThreadKey;
use tasklane::store::{self, Commit, Committed, ListStore, Loaded, Refreshed, StoreError, StoreOptions};
use tokio::task::JoinSet;

use crate::support::build::{commit, committed, contents, key, task, version};
use crate::support::database::{Kind, TestDatabase};

/// A store with so many connections that those who send batches keep theirs.
async fn open(database: &TestDatabase) -> Arc<dyn ListStore> {
    let options = StoreOptions { connections_max: 16, acquire_timeout: Duration::from_secs(30), announces: false };
    store::open(database.url(), &options).await.expect("a store")
}

/// Somebody else's transaction, which keeps everybody from committing until it ends.
enum Blocker {
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

impl Blocker {
    async fn begin(database: &TestDatabase) -> Self {
        match database.kind() {
            Kind::Postgres => {
                let mut other = PgConnection::connect(database.url()).await.expect("a connection");
                other.execute("begin; lock table change in share mode").await.expect("a lock");
                Self::Postgres(other)
            }
            Kind::Sqlite => {
                let mut other = SqliteConnection::connect(database.url()).await.expect("a connection");
                other.execute("begin immediate").await.expect("the lock");
                Self::Sqlite(other)
            }
        }
    }

    async fn end(self) {
        match self {
            Self::Postgres(mut other) => other.execute("rollback").await.map(drop),
            Self::Sqlite(mut other) => other.execute("rollback").await.map(drop),
        }
        .expect("no lock");
    }
}

type Sent = JoinSet<(ThreadKey, Result<Committed, StoreError>)>;

/// Sends all commits while none can be stored. The first ones take every connection that there is for commits, and the others
/// gather.
async fn send_together(database: &TestDatabase, store: &Arc<dyn ListStore>, commits: Vec<Commit>) -> Sent {
    let mut sent = JoinSet::new();
    for (blocked, commit) in (1..).zip(commits) {
        let store = Arc::clone(store);
        sent.spawn(async move { (commit.key.clone(), store.commit(&commit).await) });
        if database.kind() == Kind::Postgres && blocked <= 2 {
            database.wait_for_sessions("wait_event_type = 'Lock'", blocked).await;
        }
    }
    sent
}

/// A commit whose change has a revision that is taken.
fn refused(key: &ThreadKey, loaded: &Loaded) -> Commit {
    let mut bad = commit(key, loaded, vec![task("bad")]);
    bad.changes.iter_mut().for_each(|change| change.revision = loaded.list.revision());
    bad
}

both_databases! {
    async fn in_a_batch_nobody_suffers_for_another(database: TestDatabase) {
        let store = open(&database).await;
        let mut commits = Vec::new();
        let mut befores = HashMap::new();
        for n in 0..40 {
            let key = key("r", &n.to_string());
            let before = committed(&*store, &commit(&key, &Loaded::default(), vec![task("first")])).await;
            commits.push(match n % 10 {
                3 => refused(&key, &before),
                7 => Commit { expected: Some(version()), ..commit(&key, &before, vec![task("late")]) },
                _ => commit(&key, &before, vec![task("second")]),
            });
            befores.insert(key, (n, before));
        }
        let blocker = Blocker::begin(&database).await;
        let sent = send_together(&database, &store, commits).await;
        blocker.end().await;
        for (key, outcome) in sent.join_all().await {
            let (n, before) = &befores[&key];
            let now = store.load(&key, None).await.unwrap();
            match n % 10 {
                3 => assert!(matches!(outcome, Err(StoreError::Database(_))), "{outcome:?}"),
                7 => assert_eq!(outcome.unwrap(), Committed::Conflict),
                _ => assert_eq!(outcome.unwrap(), Committed::Done),
            }
            if n % 10 == 3 || n % 10 == 7 {
                assert_eq!((&now.list, now.version), (&before.list, before.version));
            } else {
                assert_eq!(contents(&now), ["second"]);
            }
        }
    }

    async fn two_commits_of_one_thread_are_never_one_batch(database: TestDatabase) {
        let store = open(&database).await;
        let key = key("r", "t");
        let mut commits: Vec<Commit> =
            (0..30).map(|n| commit(&crate::support::build::key("r", &format!("other {n}")), &Loaded::default(), vec![task("a")])).collect();
        let first = commit(&key, &Loaded::default(), vec![task("first")]);
        let loaded = Loaded { list: first.list.clone(), version: Some(first.version), ..Loaded::default() };
        let second = commit(&key, &loaded, vec![task("first"), task("second")]);
        commits.push(first);
        let blocker = Blocker::begin(&database).await;
        let sent = send_together(&database, &store, commits).await;
        let again = { let store = Arc::clone(&store); tokio::spawn(async move { store.commit(&second).await.expect("an answer") }) };
        blocker.end().await;
        for (key, outcome) in sent.join_all().await {
            assert_eq!(outcome.expect("an answer"), Committed::Done, "{key:?}");
        }
        // On another connection it may have come before the first one, and then it was too early.
        let again = again.await.expect("no panic");
        let now = store.load(&key, None).await.unwrap();
        match again {
            Committed::Done => assert_eq!(contents(&now), ["first", "second"]),
            Committed::Conflict => assert_eq!(contents(&now), ["first"]),
        }
    }

    async fn each_reader_of_many_gets_its_own_list(database: TestDatabase) {
        let store = open(&database).await;
        let mut known = Vec::new();
        for n in 0..30 {
            let key = key("r", &n.to_string());
            let tasks = (0..n).map(|at| task(&format!("{n} {at}"))).collect();
            known.push((key.clone(), committed(&*store, &commit(&key, &Loaded::default(), tasks)).await));
        }
        for (key, before) in &known[10..20] {
            committed(&*store, &commit(key, before, vec![task("new")])).await;
        }
        database.execute("delete from thread where thread = '29'").await;
        database.execute("delete from task where thread = '29'").await;

        let mut reading = JoinSet::new();
        for round in 0..4 {
            for (n, (key, before)) in known.iter().enumerate() {
                let (store, key, before) = (Arc::clone(&store), key.clone(), before.clone());
                reading.spawn(async move {
                    if round == 3 {
                        let loaded = store.load(&key, None).await.expect("a list");
                        return (n, before, Refreshed::Other(loaded));
                    }
                    let refreshed = store.refresh(&key, before.version.expect("a version")).await.expect("an answer");
                    (n, before, refreshed)
                });
            }
        }
        for (n, before, refreshed) in reading.join_all().await {
            match (n, refreshed) {
                (10..20, Refreshed::Other(now)) => assert_eq!(contents(&now), ["new"], "{n}"),
                (29, Refreshed::Other(now)) => assert_eq!((now.version, now.list.tasks().len()), (None, 0)),
                (10..20 | 29, Refreshed::Same { .. }) => panic!("{n} is not what it was"),
                (_, Refreshed::Other(now)) => assert_eq!((now.list, now.version), (before.list, before.version), "{n}"),
                (_, Refreshed::Same { at }) => assert!(at >= before.at, "{n}"),
            }
        }
        // Never written: there is nothing that could be the same.
        let nothing = store.refresh(&key("r", "never"), version()).await.unwrap();
        assert!(matches!(nothing, Refreshed::Other(Loaded { version: None, .. })));
    }
}
