//! Connections that break and databases that are gone: the store says what it does not know.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, Executor, PgConnection, SqliteConnection};
use tasklane::store::{self, Committed, ListStore, Loaded, StoreError, StoreOptions, ThreadQuery};

use crate::support::build::{answer, commit, committed, contents, key, task};
use crate::support::database::{TestDatabase, on_postgres, on_sqlite};
use crate::support::proxy::{Cut, Proxy};

/// A store with one connection, so that the test knows which one it uses.
async fn open_one(url: &str, acquire_timeout: Duration) -> Arc<dyn ListStore> {
    store::open(url, &StoreOptions { connections_max: 1, acquire_timeout, announces: true }).await.expect("a store")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_tells_whether_a_commit_without_an_answer_has_happened() {
    on_postgres(async |database: TestDatabase| {
        let proxy = Proxy::to(database.url()).await;
        let store = open_one(proxy.url(), Duration::from_secs(30)).await;
        let key = key("r", "t");
        let mut loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        for (mark, answer_key, cut, has_happened) in [
            ("is lost", "first", Cut::BeforeTheDatabase, false),
            ("is stored", "second", Cut::BeforeTheAnswer, true),
            ("is lost too", "third", Cut::BeforeTheDatabase, false),
        ] {
            proxy.cut(mark, cut);
            let mut next = commit(&key, &loaded, vec![task("a"), task(mark)]);
            next.answers = vec![answer(answer_key, "1")];
            assert!(matches!(store.commit(&next).await, Err(StoreError::Unknown(_))), "{mark}");
            loaded = store.load(&key, Some(&answer(answer_key, "").0)).await.unwrap();
            assert_eq!(store.contains(&key, next.version).await.unwrap(), has_happened, "{mark}");
            assert_eq!(contents(&loaded).contains(&mark), has_happened, "{mark}");
            assert_eq!(loaded.kept.is_some(), has_happened, "{mark}");
        }
        let birth = commit(&crate::support::build::key("r", "new"), &Loaded::default(), vec![task("unborn")]);
        proxy.cut("unborn", Cut::BeforeTheAnswer);
        assert!(matches!(store.commit(&birth).await, Err(StoreError::Unknown(_))));
        assert!(store.contains(&birth.key, birth.version).await.unwrap());
        // Repeated all the same, it is not done twice.
        proxy.mend();
        assert_eq!(store.commit(&birth).await.unwrap(), Committed::Conflict);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_does_not_know_the_end_of_a_commit_whose_session_was_ended() {
    on_postgres(async |database: TestDatabase| {
        let store = database.open().await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;

        // Whoever commits has to wait for this one.
        let mut blocker = PgConnection::connect(database.url()).await.expect("a connection");
        blocker.execute("begin; lock table change in share mode").await.expect("a lock");
        let next = commit(&key, &loaded, vec![task("b")]);
        let committing = tokio::spawn({
            let (store, next) = (Arc::clone(&store), next.clone());
            async move { store.commit(&next).await }
        });
        let mut admin = PgConnection::connect(database.url()).await.expect("a connection");
        let waiting = "select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'tasklane' and wait_event_type = 'Lock'";
        while admin.fetch_optional(waiting).await.expect("an answer").is_none() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(committing.await.expect("no panic"), Err(StoreError::Unknown(_))));
        blocker.execute("rollback").await.expect("no lock");

        let now = store.load(&key, None).await.unwrap();
        assert_eq!((now.list, now.version), (loaded.list, loaded.version));
        assert!(!store.contains(&key, next.version).await.unwrap());
        assert_eq!(store.commit(&next).await.unwrap(), Committed::Done);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_is_gone_is_unavailable_and_well_again_when_it_is() {
    on_postgres(async |database: TestDatabase| {
        let proxy = Proxy::to(database.url()).await;
        let store = open_one(proxy.url(), Duration::from_secs(30)).await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;

        proxy.set_up(false);
        // The first may find the connection that has just broken; whoever comes later finds none.
        for _ in 0..3 {
            assert!(matches!(store.load(&key, None).await, Err(StoreError::Unavailable(_))));
        }
        assert!(matches!(store.ping().await, Err(StoreError::Unavailable(_))));
        let next = commit(&key, &loaded, vec![task("b")]);
        assert!(matches!(store.commit(&next).await, Err(StoreError::Unavailable(_))));

        proxy.set_up(true);
        assert_eq!(store.load(&key, None).await.unwrap().list, loaded.list);
        assert_eq!(store.commit(&next).await.unwrap(), Committed::Done);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_leaves_out_a_thread_that_somebody_else_is_committing_to() {
    on_postgres(async |database: TestDatabase| {
        let store = database.open().await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let mut other = PgConnection::connect(database.url()).await.expect("a connection");
        other.execute("begin; select 1 from thread for no key update").await.expect("a lock");
        let next = commit(&key, &loaded, vec![task("b")]);
        assert_eq!(store.commit(&next).await.unwrap(), Committed::Conflict);
        other.execute("rollback").await.expect("no lock");
        assert_eq!(store.commit(&next).await.unwrap(), Committed::Done);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_finds_every_row_by_an_index() {
    on_postgres(async |database: TestDatabase| {
        let count = async |scans: &str| {
            // Sessions tell what they counted when they end.
            database.wait_for_sessions("true", 0).await;
            let tables = "pg_stat_user_tables where relname in ('thread', 'task', 'change', 'idempotency')";
            database.number(&format!("select sum({scans})::bigint from {tables}")).await
        };
        database.open().await.close().await;
        let before = count("seq_scan").await;

        let store = open_one(database.url(), Duration::from_secs(30)).await;
        let key = key("r", "t");
        let mut loaded = Loaded::default();
        // More often than it takes to settle on a plan, while the tables are as good as empty.
        for n in 0..12 {
            let mut next = commit(&key, &loaded, vec![task(&n.to_string())]);
            next.answers = vec![answer("k", "1")];
            loaded = committed(&*store, &next).await;
            store.load(&key, Some(&next.answers[0].0)).await.unwrap();
            assert!(store.contains(&key, next.version).await.unwrap());
            store.threads(&ThreadQuery { resource: key.resource.clone(), after: None, limit: 10 }).await.unwrap();
            store.ping().await.unwrap();
        }
        store.close().await;
        assert!(count("idx_scan").await > 100);
        assert_eq!(count("seq_scan").await, before);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_that_another_process_holds_is_unavailable_for_commits_alone() {
    on_sqlite(async |database: TestDatabase| {
        let store = open_one(database.url(), Duration::from_secs(3)).await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let mut other = SqliteConnection::connect(database.url()).await.expect("a connection");
        other.execute("begin immediate").await.expect("the lock");
        let next = commit(&key, &loaded, vec![task("b")]);
        assert!(matches!(store.commit(&next).await, Err(StoreError::Unavailable(_))));
        assert_eq!(store.load(&key, None).await.unwrap().list, loaded.list);
        store.ping().await.unwrap();
        other.execute("rollback").await.expect("no lock");
        assert_eq!(store.commit(&next).await.unwrap(), Committed::Done);
    })
    .await;
}
