//! What is broken is named, and never told as an empty list.

use tasklane::domain::ResourceId;
use tasklane::store::{ListStore, Loaded, StoreError, ThreadQuery};

use crate::support::build::{answer, at, commit, committed, key, task};
use crate::support::database::Kind;

fn query() -> ThreadQuery {
    ThreadQuery { resource: ResourceId::parse("r").expect("a resource id"), after: None, limit: 10 }
}

async fn corrupt(store: &dyn ListStore) -> (&'static str, String, &'static str) {
    match store.load(&key("r", "t"), None).await {
        Err(StoreError::Corrupt { table, row, column }) => (table, row, column),
        other => panic!("{other:?}"),
    }
}

both_databases! {
    async fn a_table_that_is_gone_is_an_error_for_everything_that_needs_it(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let kept = answer("k", "").0;
        let mut next = commit(&key, &loaded, vec![task("b")]);
        next.answers = vec![answer("k", "1")];

        database.execute("drop table idempotency").await;
        assert!(matches!(store.load(&key, Some(&kept)).await, Err(StoreError::Database(_))));
        assert!(matches!(store.commit(&next).await, Err(StoreError::Database(_))));
        assert!(matches!(store.contains(&key, next.version).await, Err(StoreError::Database(_))));
        assert_eq!(store.load(&key, None).await.unwrap().list, loaded.list);

        database.execute("drop table task").await;
        assert!(matches!(store.load(&key, None).await, Err(StoreError::Database(_))));
        database.execute("drop table thread").await;
        assert!(matches!(store.load(&key, None).await, Err(StoreError::Database(_))));
        assert!(matches!(store.commit(&next).await, Err(StoreError::Database(_))));
        assert!(matches!(store.threads(&query()).await, Err(StoreError::Database(_))));
        assert!(matches!(store.ping().await, Err(StoreError::Database(_))));
    }

    async fn a_row_that_breaks_the_rules_is_named(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        committed(&*store, &commit(&key, &Loaded::default(), vec![task("a"), task("b")])).await;
        let set = |assignment: &str| format!("update task set {assignment} where id = 'b'");
        for (breaks, mends, column) in [
            ("content = ''", "content = 'b'", "content"),
            ("active_form = ''", "active_form = null", "active_form"),
            ("owner = ''", "owner = null", "owner"),
            ("metadata = '[1]'", "metadata = '{}'", "metadata"),
            ("metadata = '{\"a\":1,\"a\":2}'", "metadata = '{}'", "metadata"),
            ("blockers = '[\"\"]'", "blockers = '[]'", "blockers"),
            ("blockers = 'a'", "blockers = '[]'", "blockers"),
        ] {
            database.execute(&set(breaks)).await;
            assert_eq!(corrupt(&*store).await, ("task", "r/t/b".to_owned(), column), "{breaks}");
            database.execute(&set(mends)).await;
            assert_eq!(store.load(&key, None).await.unwrap().list.tasks().len(), 2);
        }
        if database.kind() == Kind::Sqlite {
            database.execute(&set("created_at = 'yesterday'")).await;
            assert_eq!(corrupt(&*store).await, ("task", "r/t".to_owned(), "created_at"));
            database.execute(&set("created_at = updated_at")).await;
        }
        database.execute("update task set id = '..' where id = 'b'").await;
        assert_eq!(corrupt(&*store).await, ("task", "r/t/..".to_owned(), "id"));
    }

    async fn a_part_of_a_list_is_not_told_as_the_list(database: TestDatabase) {
        let store = database.open().await;
        committed(&*store, &commit(&key("r", "t"), &Loaded::default(), vec![task("a"), task("b")])).await;
        database.execute("delete from task where id = 'a'").await;
        assert_eq!(corrupt(&*store).await, ("thread", "r/t".to_owned(), "total"));
        database.execute("delete from task").await;
        assert_eq!(corrupt(&*store).await, ("thread", "r/t".to_owned(), "total"));
        database.execute("delete from thread").await;
        assert_eq!(store.load(&key("r", "t"), None).await.unwrap().version, None);
    }

    async fn a_bad_thread_in_a_listing_is_named(database: TestDatabase) {
        let store = database.open().await;
        committed(&*store, &commit(&key("r", "t"), &Loaded::default(), vec![task("a")])).await;
        database.execute("update thread set thread = '.'").await;
        match store.threads(&query()).await {
            Err(StoreError::Corrupt { table, row, column }) => {
                assert_eq!((table, row.as_str(), column), ("thread", "r/.", "thread"));
            }
            other => panic!("{other:?}"),
        }
    }

    async fn a_commit_that_the_database_refuses_leaves_nothing(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let mut bad = commit(&key, &loaded, vec![task("b")]);
        // Its first change has a revision that is taken.
        for change in &mut bad.changes {
            change.revision = loaded.list.revision();
        }
        bad.at = at(99);
        assert!(matches!(store.commit(&bad).await, Err(StoreError::Database(_))));
        let now = store.load(&key, None).await.unwrap();
        assert_eq!((now.list, now.version), (loaded.list.clone(), loaded.version));
        // And nothing is left locked.
        committed(&*store, &commit(&key, &loaded, vec![task("c")])).await;
    }
}
