//! Many commits at once, from several processes: pools that share nothing but the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{Connection, Executor, PgConnection};
use tasklane::domain::{Revision, Task};
use tasklane::store::{Commit, Committed, ListStore, Loaded, PostgresStore};
use tokio::task::JoinSet;

use crate::support::build::{commit, committed, content, contents, key, task};
use crate::support::database::{TestDatabase, on_postgres, options};

/// Adds tasks one by one, each in a commit of its own, and reads again until it is stored.
async fn add(store: Arc<dyn ListStore>, thread: &'static str, worker: String, count: usize) {
    let key = key("r", thread);
    for n in 0..count {
        loop {
            let loaded = store.load(&key, None).await.expect("a list");
            let mut tasks: Vec<Task> = loaded.list.tasks().iter().map(|task| Task::clone(task)).collect();
            tasks.push(task(&format!("{worker}-{n}")));
            match store.commit(&commit(&key, &loaded, tasks)).await.expect("an answer") {
                Committed::Done => break,
                Committed::Conflict => tokio::task::yield_now().await,
            }
        }
    }
}

both_databases! {
    async fn of_many_births_of_one_thread_one_wins(database: TestDatabase) {
        let stores = [database.open().await, database.open().await];
        for round in 0..10 {
            let key = key("r", &format!("t{round}"));
            let mut births = JoinSet::new();
            for n in 0..8 {
                let store = Arc::clone(&stores[n % 2]);
                let birth = commit(&key, &Loaded::default(), vec![task(&format!("of {n}"))]);
                births.spawn(async move { (store.commit(&birth).await.expect("an answer"), birth) });
            }
            let outcomes = births.join_all().await;
            let won: Vec<&Commit> =
                outcomes.iter().filter(|(outcome, _)| *outcome == Committed::Done).map(|(_, birth)| birth).collect();
            let [won] = won.as_slice() else { panic!("{} won", won.len()) };
            let loaded = stores[0].load(&key, None).await.unwrap();
            assert_eq!((&loaded.list, loaded.version), (&won.list, Some(won.version)));
            assert_eq!(loaded.list.revision(), Revision::new(1));
        }
        assert_eq!(database.number("select count(*) from task").await, 10);
        assert_eq!(database.number("select count(*) from change").await, 10);
    }

    async fn no_acknowledged_commit_is_lost(database: TestDatabase) {
        let stores = [database.open().await, database.open().await];
        let mut workers = JoinSet::new();
        for (n, thread) in [(0, "x"), (1, "x"), (2, "y"), (3, "y"), (4, "x"), (5, "y")] {
            workers.spawn(add(Arc::clone(&stores[n % 2]), thread, format!("worker {n}"), 20));
        }
        workers.join_all().await;
        for thread in ["x", "y"] {
            let loaded = stores[0].load(&key("r", thread), None).await.unwrap();
            assert_eq!(loaded.list.revision(), Revision::new(60));
            assert_eq!(loaded.list.tasks().len(), 60);
            let changes = format!("select count(distinct revision) from change where thread = '{thread}' and revision <= 60");
            assert_eq!(database.number(&changes).await, 60);
        }
    }

    async fn a_load_is_never_torn(database: TestDatabase) {
        let (writer, reader) = (database.open().await, database.open().await);
        let key_here = key("r", "t");
        let is_over = Arc::new(AtomicBool::new(false));
        let reading = tokio::spawn({
            let (key, is_over) = (key_here.clone(), Arc::clone(&is_over));
            async move {
                let mut seen = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let loaded = reader.load(&key, None).await.expect("a list");
                    let revision = loaded.list.revision().get();
                    let expected = if revision % 2 == 1 { 20 } else { 3 } * usize::from(revision > 0);
                    assert_eq!(contents(&loaded), vec![format!("of {revision}"); expected]);
                    seen += 1;
                }
                seen
            }
        });
        let mut loaded = Loaded::default();
        for revision in 1..=100 {
            let count = if revision % 2 == 1 { 20 } else { 3 };
            let tasks = (0..count).map(|n| Task { content: content(&format!("of {revision}")), ..task(&n.to_string()) });
            loaded = committed(&*writer, &commit(&key_here, &loaded, tasks.collect())).await;
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(reading.await.expect("no torn list") > 0);
    }
}

/// Births of different threads, in this order, for one statement.
fn births(threads: impl Iterator<Item = char>) -> Vec<Commit> {
    threads.map(|name| commit(&key("r", &name.to_string()), &Loaded::default(), vec![task("a")])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_births_in_opposite_order_do_not_wait_in_a_circle() {
    on_postgres(async |database: TestDatabase| {
        let open = async || PostgresStore::open(database.url(), &options()).await.expect("a store");
        let (one, two) = (open().await, open().await);
        // Somebody else's birth holds both up in the middle, when each has done half of its own.
        let mut blocker = PgConnection::connect(database.url()).await.expect("a connection");
        let middle = "begin; insert into thread select 'r', 'm', 1, 1, 1, null, 1, 0, null, 0, 0, 0, 0, now(), now()";
        blocker.execute(middle).await.expect("a birth");
        let committing = |store: PostgresStore, births: Vec<Commit>| {
            tokio::spawn(async move { store.commit_all(&births.iter().collect::<Vec<_>>()).await.expect("an answer") })
        };
        let forward = committing(one.clone(), births('a'..='z'));
        database.wait_for_sessions("wait_event_type = 'Lock'", 1).await;
        let backward = committing(two.clone(), births(('a'..='z').rev()));
        database.wait_for_sessions("wait_event_type = 'Lock'", 2).await;
        blocker.execute("rollback").await.expect("no birth");

        assert_eq!(forward.await.expect("no panic"), [Committed::Done; 26]);
        assert_eq!(backward.await.expect("no panic"), [Committed::Conflict; 26]);
        // Sessions tell what they counted when they end.
        tokio::join!(one.close(), two.close());
        database.wait_for_sessions("true", 0).await;
        let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
        assert_eq!(database.number(deadlocks).await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_stores_each_commit_of_a_batch_or_not_whatever_becomes_of_the_others() {
    on_postgres(async |database: TestDatabase| {
        let store = PostgresStore::open(database.url(), &options()).await.expect("a store");
        let keys = ["a", "b", "c", "d"].map(|thread| key("r", thread));
        let [a, b, c, d] = &keys;
        let at_a = committed(&store, &commit(a, &Loaded::default(), vec![task("1"), task("2")])).await;
        let at_b = committed(&store, &commit(b, &Loaded::default(), vec![task("1"), task("2")])).await;
        let newer_b = committed(&store, &commit(b, &at_b, vec![task("1"), task("2"), task("3")])).await;

        let batch = [
            commit(d, &Loaded::default(), vec![task("born")]),
            commit(b, &at_b, vec![task("stale")]),
            commit(a, &at_a, vec![task("2"), task("moved")]),
            commit(b, &Loaded::default(), vec![task("born late")]),
            commit(c, &at_a, vec![task("never read")]),
            commit(d, &Loaded::default(), vec![task("born twice")]),
        ];
        let batch: Vec<&Commit> = batch.iter().collect();
        let outcomes = store.commit_all(&batch).await.expect("an answer");
        assert_eq!(outcomes[1..5], [Committed::Conflict, Committed::Done, Committed::Conflict, Committed::Conflict]);
        assert_eq!([outcomes[0], outcomes[5]].iter().filter(|outcome| **outcome == Committed::Done).count(), 1);

        let load = async |key| store.load(key, None).await.expect("a list");
        assert_eq!(contents(&load(a).await), ["2", "moved"]);
        assert_eq!(load(b).await.list, newer_b.list);
        assert_eq!(load(c).await.version, None);
        assert_eq!(load(d).await.list.tasks().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_batches_over_the_same_threads_lose_nothing() {
    on_postgres(async |database: TestDatabase| {
        let mut workers = JoinSet::new();
        for worker in 0..4 {
            let store = PostgresStore::open(database.url(), &options()).await.expect("a store");
            workers.spawn(async move {
                let mut done: i64 = 0;
                for round in 0..40 {
                    let mut batch = Vec::new();
                    for n in 0..8 {
                        // Each worker in another order.
                        let thread = if worker % 2 == 0 { n } else { 7 - n };
                        let key = key("r", &thread.to_string());
                        let loaded = store.load(&key, None).await.expect("a list");
                        batch.push(commit(&key, &loaded, vec![task(&format!("{worker} {round}"))]));
                    }
                    let batch: Vec<&Commit> = batch.iter().collect();
                    let outcomes = store.commit_all(&batch).await.expect("an answer");
                    done += outcomes.iter().map(|outcome| i64::from(*outcome == Committed::Done)).sum::<i64>();
                }
                done
            });
        }
        let done: i64 = workers.join_all().await.into_iter().sum();
        assert_eq!(database.number("select sum(revision)::bigint from thread").await, done);
        assert_eq!(database.number("select count(*) from change").await, done);
        assert_eq!(database.number("select count(*) from task").await, 8);
        assert_eq!(
            database.number("select count(*) from thread as t join task using (resource, thread, revision)").await,
            0
        );
    })
    .await;
}
