//! What is committed is what is loaded.

use std::sync::Arc;

use chrono::{SubsecRound, TimeDelta};
use tasklane::domain::{ActiveForm, Counters, Description, Lease, Metadata, Owner, Revision, Status, Task, TaskList};
use tasklane::json;
use tasklane::store::{Committed, Loaded};

use crate::support::build::{
    answer, at, commit, committed, content, contents, id, key, list, quiet_commit, task, version,
};

fn metadata(text: &str) -> Metadata {
    json::parse(text).ok().and_then(|json| json.try_into().ok()).expect("a JSON object")
}

/// Tasks with everything that a task can have, and with texts that something on the way could damage.
fn odd_tasks() -> Vec<Task> {
    let odd = "é 修 😀 \u{feff}\u{202e} 'quoted' \"doubly\" \\n {} $1 %s\r\n\t\u{1}\u{7f}\u{ffff}\u{10ffff} e\u{301} ";
    let full = Task {
        id: id("with space/slash?#% 修"),
        content: content(odd),
        status: Status::Completed,
        active_form: Some(ActiveForm::parse(odd).expect("an active form")),
        description: Description::parse(odd.repeat(1_000)).expect("a description"),
        owner: Some(Owner::parse("a)b, {c}, NULL").expect("an owner")),
        metadata: metadata(
            r#"{"z":1E5,"a":-0,"n":1.0,"big":1234567890123456789012345678901234567890,"e":1e400,
                "b":true,"nil":null,"deep":[[],{},{"é":"\u0001\\\""}],"":""}"#,
        ),
        blockers: vec![id("2"), id("NULL"), id("10")],
        lease: Some(Lease { token: "7-00ff".into(), expires_at: at(300) }),
        created_at: at(-1),
        updated_at: at(1).trunc_subsecs(0),
        completed_at: Some(at(2).trunc_subsecs(3)),
        revision: Revision::new(i64::MAX),
        change_id: version(),
        ..task("x")
    };
    vec![task("2"), full, task("10"), task("NULL"), task("null"), task("A"), task("a"), task("a ")]
}

both_databases! {
    async fn a_list_that_was_never_written_is_empty_at_revision_0(database: TestDatabase) {
        let store = database.open().await;
        let loaded = store.load(&key("r", "t"), Some(&answer("k", "").0)).await.unwrap();
        assert_eq!(loaded.list, TaskList::default());
        assert_eq!(loaded.version, None);
        assert_eq!(loaded.kept, None);
    }

    async fn what_is_committed_is_loaded_again_in_every_detail_and_order(database: TestDatabase) {
        let store = database.open().await;
        let key = key("résource 修", "thread/1");
        let mut commit = commit(&key, &Loaded::default(), odd_tasks());
        let counters = Counters { next_number: 7, leases: 3 };
        commit.list = list(Revision::new(1), commit.version, counters, commit.list.tasks().to_vec());
        assert_eq!(store.commit(&commit).await.unwrap(), Committed::Done);

        for store in [store, database.open().await] {
            let loaded = store.load(&key, None).await.unwrap();
            assert_eq!(loaded.list, commit.list);
            assert_eq!(loaded.version, Some(commit.version));
        }
    }

    async fn moments_are_cut_to_microseconds(database: TestDatabase) {
        let store = database.open().await;
        let nanos = TimeDelta::nanoseconds(999);
        let exact = Task { completed_at: Some(at(3)), lease: None, ..task("a") };
        let finer = Task {
            created_at: exact.created_at + nanos,
            updated_at: exact.updated_at + nanos,
            completed_at: Some(at(3) + nanos),
            ..exact.clone()
        };
        let mut commit = commit(&key("r", "t"), &Loaded::default(), vec![finer]);
        commit.at += nanos;
        let loaded = committed(&*store, &commit).await;
        assert_eq!(loaded.list.tasks(), [Arc::new(Task { position: 1, ..exact })]);
    }

    async fn a_commit_changes_only_the_tasks_that_it_names(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a"), task("b"), task("c")])).await;

        let changed = Task { content: content("b2"), ..task("b") };
        let next = commit(&key, &loaded, vec![changed, task("a"), task("d")]);
        assert_eq!((next.upserts.len(), next.removals.len()), (3, 1));
        let loaded = committed(&*store, &next).await;
        assert_eq!(contents(&loaded), ["b2", "a", "d"]);
        assert_eq!(loaded.list, next.list);

        let loaded = committed(&*store, &commit(&key, &loaded, Vec::new())).await;
        assert_eq!(contents(&loaded), [""; 0]);
        assert_eq!(loaded.list.revision(), Revision::new(3));
    }

    async fn a_task_that_is_removed_and_stored_again_in_one_commit_is_there(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let loaded = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let mut next = commit(&key, &loaded, vec![Task { content: content("again"), ..task("a") }]);
        next.removals = vec![id("a")];
        assert_eq!(contents(&committed(&*store, &next).await), ["again"]);
    }

    async fn a_commit_on_a_version_that_is_not_the_newest_leaves_nothing(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let first = commit(&key, &Loaded::default(), vec![task("a"), task("b")]);
        let read = committed(&*store, &first).await;
        let newest = committed(&*store, &commit(&key, &read, vec![task("a"), task("b"), task("c")])).await;

        let mut late = commit(&key, &read, vec![task("d")]);
        late.answers = vec![answer("k", "late")];
        late.forgets_changes = true;
        let mut birth = commit(&key, &Loaded::default(), vec![task("e")]);
        birth.answers = vec![answer("k", "birth")];
        for lost in [late, birth] {
            assert_eq!(store.commit(&lost).await.unwrap(), Committed::Conflict);
            let loaded = store.load(&key, Some(&answer("k", "").0)).await.unwrap();
            assert_eq!(loaded.list, newest.list);
            assert_eq!(loaded.version, newest.version);
            assert_eq!(loaded.kept, None);
            assert_eq!(database.number("select count(*) from change").await, 2);
            assert!(!store.contains(&key, lost.version).await.unwrap());
        }
    }

    async fn a_commit_on_a_thread_that_is_gone_makes_none(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let read = Loaded { version: Some(version()), ..Loaded::default() };
        assert_eq!(store.commit(&commit(&key, &read, vec![task("a")])).await.unwrap(), Committed::Conflict);
        assert_eq!(store.load(&key, None).await.unwrap().version, None);
        assert_eq!(database.number("select count(*) from task").await, 0);
    }

    async fn two_resources_never_see_each_other(database: TestDatabase) {
        let store = database.open().await;
        let (mine, theirs) = (key("mine", "t"), key("theirs", "t"));
        let mut first = commit(&mine, &Loaded::default(), vec![task("a")]);
        first.answers = vec![answer("k", "mine")];
        let here = committed(&*store, &first).await;
        let there = store.load(&theirs, Some(&answer("k", "").0)).await.unwrap();
        assert_eq!((there.list, there.version, there.kept), (TaskList::default(), None, None));

        let there = committed(&*store, &commit(&theirs, &Loaded::default(), vec![task("a"), task("b")])).await;
        committed(&*store, &commit(&theirs, &there, Vec::new())).await;
        assert_eq!(store.load(&mine, None).await.unwrap().list, here.list);
    }

    async fn an_answer_is_kept_with_its_commit(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let big = format!("{{\"é\":\"{}\"}}", "x".repeat(700_000));
        let mut first = commit(&key, &Loaded::default(), vec![task("a"), task("b")]);
        first.answers = vec![answer("one", "1"), answer("two", &big)];
        committed(&*store, &first).await;

        for (answer_key, kept) in first.answers {
            let loaded = store.load(&key, Some(&answer_key)).await.unwrap();
            assert_eq!(loaded.kept, Some(kept));
            assert_eq!(loaded.list, first.list);
        }
        let other_key = answer("three", "").0;
        assert_eq!(store.load(&key, Some(&other_key)).await.unwrap().kept, None);
        let other_operation = tasklane::store::AnswerKey { operation: "task_update".to_owned(), ..answer("one", "").0 };
        assert_eq!(store.load(&key, Some(&other_operation)).await.unwrap().kept, None);
    }

    async fn a_commit_that_no_reader_sees_renews_the_version_and_nothing_else(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let unborn = quiet_commit(&key, &Loaded::default(), answer("k", "0"));
        let loaded = committed(&*store, &unborn).await;
        assert_eq!((loaded.list, loaded.version), (TaskList::default(), Some(unborn.version)));

        let read = Loaded { version: loaded.version, ..Loaded::default() };
        let written = committed(&*store, &commit(&key, &read, vec![task("a")])).await;
        let quiet = quiet_commit(&key, &written, answer("l", "1"));
        let loaded = committed(&*store, &quiet).await;
        assert_eq!((loaded.list, loaded.version), (written.list.clone(), Some(quiet.version)));
        assert_eq!(store.commit(&commit(&key, &written, Vec::new())).await.unwrap(), Committed::Conflict);
        assert_eq!(database.number("select count(*) from change").await, 1);
    }

    async fn two_states_of_one_revision_are_two_versions(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let first = committed(&*store, &commit(&key, &Loaded::default(), vec![task("a")])).await;
        let lost = committed(&*store, &commit(&key, &first, vec![task("b")])).await;
        // As after a failover to a standby that had not yet heard of the second commit.
        database.execute("delete from change where revision = 2").await;
        database.execute("delete from task").await;
        database.execute("update thread set total = 0, revision = 1, version = 17, change_id = 17").await;
        let second = store.load(&key, None).await.unwrap();
        committed(&*store, &commit(&key, &second, vec![task("c")])).await;
        assert_eq!(store.commit(&commit(&key, &lost, Vec::new())).await.unwrap(), Committed::Conflict);
    }
}
