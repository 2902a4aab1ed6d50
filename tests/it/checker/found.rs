//! What the check has found, each as small as it can be.

use std::sync::Arc;

use tasklane::clock::SystemClock;
use tasklane::domain::{Actor, Claim, Focus, Metadata, Operation, Owner, Patch, ResourceId, Revision, Status};
use tasklane::service::{Answered, Caller, ChangeRequest, Lists, Scopes, Settings};

use crate::support::build::{content, id, key};

both_databases! {
    /// The end of a lease is a change of the same commit, which the store does not have yet.
    async fn a_list_is_restored_although_a_lease_ends_at_that_moment(database: TestDatabase) {
        let store = database.open().await;
        let lists = || Lists::new(Arc::clone(&store), Arc::new(SystemClock), Settings::default());
        // What happens behind the back of a service, only another one sees.
        let (lists, others) = (lists(), lists());
        let caller = Caller { resource: ResourceId::default(), actor: Actor::default(), scopes: Scopes::ALL };
        let key = key(caller.resource.as_str(), "t");
        let change = async |lists: &Lists, operation| {
            match lists.change(&caller, ChangeRequest::new(key.clone(), operation)).await {
                Ok(Answered::Fresh(done)) => done.list,
                other => panic!("{other:?}"),
            }
        };
        let item = tasklane::domain::Item {
            id: Some(id("a")),
            content: content("a"),
            status: Status::Pending,
            active_form: tasklane::domain::ActiveForm::parse("doing a").expect("an active form"),
        };
        change(&lists, Operation::Write(vec![item])).await;
        let patch = Patch { content: Some(content("b")), ..Patch::default() };
        change(&lists, Operation::Update { id: id("a"), patch, focus: Focus::One }).await;
        let owner = Owner::parse("w").expect("an owner");
        change(&lists, Operation::Claim(Claim { owner, id: None, lease_seconds: 60, metadata: Metadata::default() })).await;
        for table in ["task", "thread"] {
            let past = "lease_expires_at = '2000-01-01T00:00:00.000000Z' where lease_expires_at is not null";
            database.execute(&format!("update {table} set {past}")).await;
        }

        let restored = change(&others, Operation::Restore { revision: Revision::new(1), since: Vec::new() }).await;
        let task = &restored.tasks()[0];
        assert_eq!((task.content.as_str(), task.status, task.owner.as_ref()), ("a", Status::Pending, None));
        assert_eq!(restored.revision(), Revision::new(5));
    }
}
