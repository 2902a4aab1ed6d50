//! The threads of a resource, newest activity first.

use tasklane::domain::{Counts, ResourceId, Status, Task};
use tasklane::store::{ListStore, Loaded, ThreadEntry, ThreadPlace, ThreadQuery};

use crate::support::build::{answer, at, commit, committed, deletion, key, quiet_commit, task};

async fn threads(store: &dyn ListStore, resource: &str, page: u32) -> Vec<ThreadEntry> {
    let resource = ResourceId::parse(resource).expect("a resource id");
    let mut query = ThreadQuery { resource, after: None, limit: page };
    let mut all = Vec::new();
    loop {
        let entries = store.threads(&query).await.expect("a listing");
        assert!(entries.len() <= page as usize);
        let Some(last) = entries.last() else { return all };
        query.after = Some(ThreadPlace { updated_at: last.updated_at, thread: last.thread.clone() });
        all.extend(entries);
    }
}

fn names(entries: &[ThreadEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.thread.as_str()).collect()
}

/// Writes a thread at a moment, given in seconds.
async fn write(store: &dyn ListStore, resource: &str, thread: &str, seconds: i64) -> Loaded {
    let key = key(resource, thread);
    let loaded = store.load(&key, None).await.expect("a list");
    let mut next = commit(&key, &loaded, vec![task("a"), task(&format!("at {seconds}"))]);
    next.at = at(seconds);
    committed(store, &next).await
}

both_databases! {
    async fn threads_come_newest_first_on_pages_of_any_size(database: TestDatabase) {
        let store = database.open().await;
        // Within a second, a minute and an hour, and three in one moment, whose ids order them.
        for (thread, seconds) in [
            ("minute", -60), ("é", 0), ("b", 0), ("B", 0), ("second", 1), ("later", 20), ("hour", 3_600), ("old", -90_000),
        ] {
            write(&*store, "r", thread, seconds).await;
        }
        let expected = ["hour", "later", "second", "B", "b", "é", "minute", "old"];
        for page in [1, 2, 3, 8, 100] {
            assert_eq!(names(&threads(&*store, "r", page).await), expected, "{page} a page");
        }
        write(&*store, "r", "old", 7_200).await;
        assert_eq!(names(&threads(&*store, "r", 3).await).first(), Some(&"old"));
    }

    async fn a_thread_is_listed_with_its_counts_and_moments(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let born = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let with = |name, status| Task { status, ..task(name) };
        let tasks = vec![
            task("a"), task("b"), task("c"), with("d", Status::InProgress), with("e", Status::InProgress),
            with("f", Status::Completed),
        ];
        committed(&*store, &commit(&key, &born, tasks)).await;
        let entries = threads(&*store, "r", 10).await;
        let entry = entries.first().expect("an entry");
        assert_eq!(entry.counts, Counts { total: 6, completed: 1, in_progress: 2, pending: 3 });
        assert_eq!(entry.revision.get(), 2);
        assert_eq!((entry.created_at, entry.updated_at), (at(1), at(2)));
    }

    async fn only_changes_are_activity(database: TestDatabase) {
        let store = database.open().await;
        let first = write(&*store, "r", "first", 0).await;
        write(&*store, "r", "second", 10).await;
        committed(&*store, &quiet_commit(&key("r", "first"), &first, answer("k", "1"))).await;
        assert_eq!(names(&threads(&*store, "r", 10).await), ["second", "first"]);
        // Another process's clock is behind: that makes nothing older.
        write(&*store, "r", "second", -1_000).await;
        assert_eq!(names(&threads(&*store, "r", 1).await), ["second", "first"]);
    }

    async fn threads_never_written_or_deleted_are_not_listed(database: TestDatabase) {
        let store = database.open().await;
        committed(&*store, &quiet_commit(&key("r", "unwritten"), &Loaded::default(), answer("k", "1"))).await;
        let gone = write(&*store, "r", "gone", 0).await;
        let deleted = committed(&*store, &deletion(&key("r", "gone"), &gone)).await;
        write(&*store, "r", "here", 0).await;
        assert_eq!(names(&threads(&*store, "r", 10).await), ["here"]);

        committed(&*store, &commit(&key("r", "gone"), &deleted, vec![task("a")])).await;
        assert_eq!(names(&threads(&*store, "r", 10).await), ["gone", "here"]);
    }

    async fn a_listing_holds_only_threads_of_its_resource(database: TestDatabase) {
        let store = database.open().await;
        write(&*store, "mine", "t", 0).await;
        write(&*store, "theirs", "u", 0).await;
        assert_eq!(names(&threads(&*store, "mine", 10).await), ["t"]);
        assert_eq!(names(&threads(&*store, "theirs", 10).await), ["u"]);
        assert!(threads(&*store, "m", 10).await.is_empty());
    }
}
