//! Following lists, on both databases and through several processes.

mod fan_out;
mod following;
mod http;
mod resource;
mod waiting;

use std::sync::Arc;

use tasklane::clock::SystemClock;
use tasklane::domain::{
    Actor, Content, Description, Draft, Focus, Metadata, Operation, ResourceId, Revision, Status, TaskList, ThreadKey,
};
use tasklane::service::{Answered, Caller, ChangeRequest, Done, Following, Lists, Next, Scopes, Settings};
use tasklane::store::{self, StoreOptions};

use crate::support::database::{TestDatabase, options};

/// Opens the lists as a process of its own does.
async fn process(database: &TestDatabase) -> Lists {
    process_with(database, &options()).await
}

async fn process_with(database: &TestDatabase, options: &StoreOptions) -> Lists {
    let store = store::open(database.url(), options).await.expect("the test's database opens");
    Lists::new(store, Arc::new(SystemClock), Settings::default())
}

/// Opens the lists as a process that neither announces nor listens.
async fn silent_process(database: &TestDatabase) -> Lists {
    process_with(database, &StoreOptions { announces: false, ..options() }).await
}

fn caller() -> Caller {
    Caller { resource: ResourceId::default(), actor: Actor::default(), scopes: Scopes::ALL }
}

fn creation(content: &str) -> Operation {
    let draft = Draft {
        id: None,
        content: Content::parse(content).expect("a content"),
        status: Status::Pending,
        active_form: None,
        description: Description::default(),
        owner: None,
        metadata: Metadata::default(),
        blocks: Vec::new(),
        blocked_by: Vec::new(),
    };
    Operation::Create { draft, focus: Focus::Many }
}

async fn change(lists: &Lists, key: &ThreadKey, operation: Operation) -> Done {
    match lists.change(&caller(), ChangeRequest::new(key.clone(), operation)).await.expect("the change is done") {
        Answered::Fresh(done) => *done,
        Answered::Replayed(_) => panic!("nothing was repeated"),
    }
}

async fn create(lists: &Lists, key: &ThreadKey, content: &str) -> Done {
    change(lists, key, creation(content)).await
}

async fn follow(lists: &Lists, key: &ThreadKey, seen: Option<i64>) -> Following {
    lists.follow(&caller(), key, seen.map(Revision::new)).await.expect("the list is followed")
}

async fn next(following: &mut Following) -> Next {
    following.next().await.expect("the store answers")
}

/// Takes the next event, which is a change, and returns its revision.
async fn next_revision(following: &mut Following) -> i64 {
    match next(following).await {
        Next::Change(told) => told.change.revision.get(),
        other => panic!("a change was to come, not {other:?}"),
    }
}

/// Takes the next event, which is a reset, and returns its list.
async fn next_reset(following: &mut Following) -> TaskList {
    match next(following).await {
        Next::Reset(list) => list,
        other => panic!("a reset was to come, not {other:?}"),
    }
}

/// Takes the next event, which is a snapshot, and returns its list.
async fn next_snapshot(following: &mut Following) -> TaskList {
    match next(following).await {
        Next::Snapshot(list) => list,
        other => panic!("a snapshot was to come, not {other:?}"),
    }
}
