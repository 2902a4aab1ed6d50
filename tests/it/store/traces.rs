//! What remains of a commit, and what a deleted thread forgets.

use tasklane::domain::Revision;
use tasklane::store::Loaded;

use crate::support::build::{answer, commit, committed, contents, deletion, key, quiet_commit, task, version};

both_databases! {
    async fn a_commit_is_found_by_its_version_its_change_or_its_answer(database: TestDatabase) {
        let store = database.open().await;
        let key_here = key("r", "t");
        let change = commit(&key_here, &Loaded::default(), vec![task("a")]);
        let loaded = committed(&*store, &change).await;
        let quiet = quiet_commit(&key_here, &loaded, answer("k", "1"));
        let loaded = committed(&*store, &quiet).await;
        let mut newest = quiet_commit(&key_here, &loaded, answer("l", "2"));
        newest.answers.clear();
        committed(&*store, &newest).await;

        for found in [change.version, quiet.version, newest.version] {
            assert!(store.contains(&key_here, found).await.unwrap());
            assert!(!store.contains(&key("r", "other"), found).await.unwrap());
            assert!(!store.contains(&key("other", "t"), found).await.unwrap());
        }
        assert!(!store.contains(&key_here, version()).await.unwrap());
    }

    async fn a_deleted_thread_forgets_its_changes_but_neither_its_numbers_nor_its_answers(database: TestDatabase) {
        let store = database.open().await;
        let key_here = key("r", "t");
        let mut first = commit(&key_here, &Loaded::default(), vec![task("a")]);
        first.answers = vec![answer("k", "kept")];
        let loaded = committed(&*store, &first).await;
        committed(&*store, &commit(&key("r", "beside"), &Loaded::default(), vec![task("a")])).await;
        let loaded = committed(&*store, &commit(&key_here, &loaded, vec![task("b")])).await;

        let deleted = committed(&*store, &deletion(&key_here, &loaded)).await;
        assert!(!deleted.list.exists());
        assert_eq!(deleted.list.deleted_at_revision(), Some(Revision::new(3)));
        assert_eq!(database.number("select count(*) from change where thread = 't'").await, 1);
        assert_eq!(database.number("select revision from change where thread = 't'").await, 3);
        assert_eq!(database.number("select count(*) from task where thread = 't'").await, 0);
        assert_eq!(database.number("select count(*) from change where thread = 'beside'").await, 1);
        let (answer_key, kept) = answer("k", "kept");
        assert_eq!(store.load(&key_here, Some(&answer_key)).await.unwrap().kept, Some(kept));

        let again = committed(&*store, &commit(&key_here, &deleted, vec![task("c")])).await;
        assert_eq!(again.list.revision(), Revision::new(4));
        assert_eq!(contents(&again), ["c"]);
    }

    async fn several_changes_of_one_commit_are_all_stored(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let first = commit(&key, &Loaded::default(), vec![task("a")]);
        let between = Loaded { list: first.list.clone(), ..Loaded::default() };
        let mut both = commit(&key, &between, vec![task("a"), task("b")]);
        both.changes = first.changes.iter().chain(&both.changes).cloned().collect();
        both.upserts = both.list.tasks().to_vec();
        let loaded = committed(&*store, &both).await;
        assert_eq!(loaded.list, both.list);
        assert_eq!(loaded.list.revision(), Revision::new(2));
        assert_eq!(database.number("select count(*) from change where revision in (1, 2)").await, 2);
    }
}
