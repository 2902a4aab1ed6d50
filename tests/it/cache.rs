//! What the service remembers of a list is never told when it is not so any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tasklane::clock::SystemClock;
use tasklane::domain::{
    Change, Content, Item, Moment, Operation, Patch, Revision, Status, TaskList, ThreadKey, Version,
};
use tasklane::service::{Answered, Caller, ChangeRequest, Done, Error, Lists, Scopes, Settings};
use tasklane::store::{
    AnswerKey, Commit, Committed, ListStore, Loaded, Refreshed, StoreError, ThreadEntry, ThreadQuery,
};
use tokio::sync::Semaphore;

use crate::support::build::{content, id, key};
use crate::support::database::TestDatabase;

fn caller() -> Caller {
    Caller { resource: key("r", "t").resource, actor: tasklane::domain::Actor::default(), scopes: Scopes::ALL }
}

fn lists(store: Arc<dyn ListStore>, cache_bytes_max: usize) -> Lists {
    Lists::new(store, Arc::new(SystemClock), Settings { cache_bytes_max, ..Settings::default() })
}

/// Another process: nothing is shared but the database.
async fn process(database: &TestDatabase) -> Lists {
    lists(database.open().await, Settings::default().cache_bytes_max)
}

fn write(contents: &[&str]) -> Operation {
    let item = |text: &&str| Item {
        id: Some(id(text)),
        content: content(text),
        status: Status::Pending,
        active_form: tasklane::domain::ActiveForm::parse(text).expect("an active form"),
    };
    Operation::Write(contents.iter().map(item).collect())
}

fn update(task: &str, patch: Patch) -> Operation {
    Operation::Update { id: id(task), patch, focus: tasklane::domain::Focus::Many }
}

fn renamed(to: &str) -> Patch {
    Patch { content: Some(content(to)), ..Patch::default() }
}

async fn change(lists: &Lists, key: &ThreadKey, operation: Operation) -> Result<Done, Error> {
    match lists.change(&caller(), ChangeRequest::new(key.clone(), operation)).await? {
        Answered::Fresh(done) => Ok(*done),
        Answered::Replayed(_) => panic!("no call had a key"),
    }
}

async fn contents(lists: &Lists, key: &ThreadKey) -> Vec<String> {
    let list: TaskList = lists.read(&caller(), key).await.expect("a list");
    list.tasks().iter().map(|task| Content::as_str(&task.content).to_owned()).collect()
}

both_databases! {
    async fn what_another_process_writes_is_seen_at_once(database: TestDatabase) {
        let (one, two) = (process(&database).await, process(&database).await);
        let key = key("r", "t");
        change(&one, &key, write(&["a", "b"])).await.unwrap();
        for n in 0..20 {
            let (writer, reader) = if n % 3 == 0 { (&one, &two) } else { (&two, &one) };
            let done = change(writer, &key, update("a", renamed(&format!("a{n}")))).await.unwrap();
            assert_eq!(done.list.revision(), Revision::new(n + 2));
            assert_eq!(contents(reader, &key).await, [format!("a{n}"), "b".to_owned()]);
            assert_eq!(contents(writer, &key).await, [format!("a{n}"), "b".to_owned()]);
        }
    }

    async fn a_refusal_is_not_decided_on_what_was(database: TestDatabase) {
        let (one, two) = (process(&database).await, process(&database).await);
        let key = key("r", "t");
        change(&one, &key, write(&["a"])).await.unwrap();
        change(&two, &key, write(&["a", "b"])).await.unwrap();
        // The first one remembers a list without it.
        let done = change(&one, &key, update("b", renamed("c"))).await.unwrap();
        assert_eq!(done.list.tasks().len(), 2);
        change(&two, &key, write(&["a"])).await.unwrap();
        assert!(matches!(change(&one, &key, update("b", renamed("d"))).await, Err(Error::Refused { list, .. }) if list.tasks().len() == 1));
    }

    async fn a_call_that_changes_nothing_is_not_decided_on_what_was(database: TestDatabase) {
        let (one, two) = (process(&database).await, process(&database).await);
        let key = key("r", "t");
        change(&one, &key, write(&["a"])).await.unwrap();
        change(&one, &key, Operation::Complete(id("a"))).await.unwrap();
        assert!(!change(&one, &key, Operation::Complete(id("a"))).await.unwrap().changed);
        change(&two, &key, update("a", Patch { status: Some(Status::Pending), ..Patch::default() })).await.unwrap();
        let done = change(&one, &key, Operation::Complete(id("a"))).await.unwrap();
        assert!(done.changed);
        assert_eq!(done.list.revision(), Revision::new(4));
    }

    async fn a_database_that_was_set_back_is_believed(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("r", "t");
        change(&lists, &key, write(&["a"])).await.unwrap();
        for table in ["thread", "task", "change"] {
            database.execute(&format!("create table {table}_then as select * from {table}")).await;
        }
        change(&lists, &key, update("a", renamed("lost"))).await.unwrap();
        assert_eq!(contents(&lists, &key).await, ["lost"]);
        for table in ["thread", "task", "change"] {
            database.execute(&format!("delete from {table}")).await;
            database.execute(&format!("insert into {table} select * from {table}_then")).await;
        }
        // Decided on what is lost, it must not be stored upon what is there.
        let done = change(&lists, &key, write(&["a", "b"])).await.unwrap();
        assert_eq!(done.list.revision(), Revision::new(2));
        assert_eq!(contents(&lists, &key).await, ["a", "b"]);
    }

    async fn lists_that_find_no_room_are_loaded(database: TestDatabase) {
        for room in [0, 1, 3_000] {
            let lists = lists(database.open().await, room);
            for round in 0..3 {
                for n in 0..10 {
                    let key = key(&format!("r{room}"), &n.to_string());
                    let text = format!("{n} in round {round}");
                    let operation = if round == 0 { write(&["a"]) } else { update("a", renamed(&text)) };
                    let revision = change(&lists, &key, operation).await.unwrap().list.revision();
                    assert_eq!(revision, Revision::new(round + 1));
                    assert_eq!(contents(&lists, &key).await, [if round == 0 { "a" } else { &text }]);
                }
            }
        }
    }

    async fn a_read_joins_no_check_that_is_under_way(database: TestDatabase) {
        let slow = Arc::new(Slow { store: database.open().await, checks: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let (reader, writer) = (lists(slow.clone(), 1_000_000), process(&database).await);
        let key = key("r", "t");
        change(&writer, &key, write(&["a"])).await.unwrap();
        assert_eq!(contents(&reader, &key).await, ["a"]);

        // The database has answered the first check, but the answer is still on its way when the list changes.
        let early = { let (reader, key) = (reader.clone(), key.clone()); tokio::spawn(async move { contents(&reader, &key).await }) };
        while slow.checks.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        change(&writer, &key, update("a", renamed("b"))).await.unwrap();
        assert_eq!(contents(&reader, &key).await, ["b"]);
        slow.gate.add_permits(1);
        assert_eq!(early.await.expect("no panic"), ["a"]);
    }
}

/// A store that keeps back the answer to the first check until it is told to give it.
#[derive(Debug)]
struct Slow {
    store: Arc<dyn ListStore>,
    checks: AtomicUsize,
    gate: Semaphore,
}

hands_on_the_feed!(Slow);

#[async_trait]
impl ListStore for Slow {
    async fn refresh(&self, key: &ThreadKey, known: Version) -> Result<Refreshed, StoreError> {
        let answer = self.store.refresh(key, known).await;
        if self.checks.fetch_add(1, Ordering::SeqCst) == 0 {
            self.gate.acquire().await.expect("an open gate").forget();
        }
        answer
    }

    async fn load(&self, key: &ThreadKey, kept: Option<&AnswerKey>) -> Result<Loaded, StoreError> {
        self.store.load(key, kept).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        self.store.commit(commit).await
    }

    async fn contains(&self, key: &ThreadKey, version: Version) -> Result<bool, StoreError> {
        self.store.contains(key, version).await
    }

    async fn changes(&self, key: &ThreadKey, after: Revision, limit: u32) -> Result<Vec<Change>, StoreError> {
        self.store.changes(key, after, limit).await
    }

    async fn forget_changes(&self, key: &ThreadKey, up_to: Revision) -> Result<(), StoreError> {
        self.store.forget_changes(key, up_to).await
    }

    async fn forget_older(&self, changes: Moment, answers: Moment, limit: u32) -> Result<u64, StoreError> {
        self.store.forget_older(changes, answers, limit).await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadEntry>, StoreError> {
        self.store.threads(query).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.store.ping().await
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
