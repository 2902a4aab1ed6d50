//! Short ways to say what a list holds and what a commit does.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta};
use tasklane::domain::{
    Actor, Change, Content, Counters, Description, Metadata, Moment, Op, ResourceId, Revision, Status, Task, TaskId,
    TaskList, TaskView, ThreadId, ThreadKey, Version,
};
use tasklane::store::{AnswerKey, Commit, Committed, KeptAnswer, ListStore, Loaded};

/// A moment that is always the same, and others counted from it.
pub(crate) fn at(seconds: i64) -> Moment {
    DateTime::from_timestamp(1_780_000_000, 123_456_000).expect("a moment") + TimeDelta::seconds(seconds)
}

/// A version that no other commit of this program has, negative every other time.
pub(crate) fn version() -> Version {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    Version::new(if number % 2 == 0 { i64::MIN + number } else { i64::MAX - number })
}

pub(crate) fn key(resource: &str, thread: &str) -> ThreadKey {
    ThreadKey {
        resource: ResourceId::parse(resource).expect("a resource id"),
        thread: ThreadId::parse(thread).expect("a thread id"),
    }
}

pub(crate) fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("a task id")
}

/// A pending task with nothing but a content, which is its id unless it is changed.
pub(crate) fn task(name: &str) -> Task {
    Task {
        id: id(name),
        position: 0,
        content: content(name),
        status: Status::Pending,
        active_form: None,
        description: Description::default(),
        owner: None,
        metadata: Metadata::default(),
        blockers: Vec::new(),
        lease: None,
        created_at: at(0),
        updated_at: at(0),
        completed_at: None,
        revision: Revision::new(1),
        change_id: Version::new(1),
    }
}

pub(crate) fn content(text: &str) -> Content {
    Content::parse(text).expect("a content")
}

/// The commit that makes the list hold these tasks, in this order, as one change.
pub(crate) fn commit(key: &ThreadKey, loaded: &Loaded, tasks: Vec<Task>) -> Commit {
    let version = version();
    let revision = loaded.list.revision().next();
    let tasks: Vec<Arc<Task>> = (1..).zip(tasks).map(|(position, task)| Arc::new(Task { position, ..task })).collect();
    let upserts = tasks.iter().filter(|task| loaded.list.get(&task.id).is_none_or(|was| *was != **task)).cloned();
    let upserts: Vec<Arc<Task>> = upserts.collect();
    let stays = |id: &TaskId| tasks.iter().any(|task| task.id == *id);
    let removals: Vec<TaskId> = loaded.list.ids().into_iter().filter(|id| !stays(id)).collect();
    let ops = upserts
        .iter()
        .map(|task| Op::Add(TaskView { task: Arc::clone(task), blocks: Vec::new(), blocked_by: Vec::new() }));
    let change = Change {
        revision,
        change_id: version,
        operation: "task_write".into(),
        actor: Actor::default(),
        at: at(revision.get()),
        ops: ops.collect(),
    };
    Commit {
        key: key.clone(),
        expected: loaded.version,
        version,
        list: list(revision, version, loaded.list.counters(), tasks),
        upserts,
        removals,
        changes: vec![change],
        answers: Vec::new(),
        forgets_changes: false,
        at: at(revision.get()),
    }
}

/// The commit that deletes the thread.
pub(crate) fn deletion(key: &ThreadKey, loaded: &Loaded) -> Commit {
    let mut commit = commit(key, loaded, Vec::new());
    let revision = commit.list.revision();
    commit.list = TaskList::restored(revision, commit.version, Some(revision), loaded.list.counters(), Vec::new())
        .expect("no id twice");
    commit.forgets_changes = true;
    commit
}

/// The commit that no reader sees: the list stays, but an answer is kept.
pub(crate) fn quiet_commit(key: &ThreadKey, loaded: &Loaded, answer: (AnswerKey, KeptAnswer)) -> Commit {
    Commit {
        key: key.clone(),
        expected: loaded.version,
        version: version(),
        list: loaded.list.clone(),
        upserts: Vec::new(),
        removals: Vec::new(),
        changes: Vec::new(),
        answers: vec![answer],
        forgets_changes: false,
        at: at(1_000),
    }
}

/// A list that was never deleted.
pub(crate) fn list(revision: Revision, change_id: Version, counters: Counters, tasks: Vec<Arc<Task>>) -> TaskList {
    TaskList::restored(revision, change_id, None, counters, tasks).expect("ids that differ")
}

pub(crate) fn answer(key: &str, answer: &str) -> (AnswerKey, KeptAnswer) {
    let key = AnswerKey { actor: Actor::default(), operation: "task_write".to_owned(), key: key.to_owned() };
    (key, KeptAnswer { fingerprint: format!("fingerprint of {answer}"), answer: answer.to_owned() })
}

/// The contents of a list in its order.
pub(crate) fn contents(loaded: &Loaded) -> Vec<&str> {
    loaded.list.tasks().iter().map(|task| task.content.as_str()).collect()
}

/// Commits, and loads what is there now.
pub(crate) async fn committed(store: &dyn ListStore, commit: &Commit) -> Loaded {
    assert_eq!(store.commit(commit).await.expect("the database answers"), Committed::Done);
    store.load(&commit.key, None).await.expect("the database answers")
}
