//! Whatever the domain makes of a list, the store gives back.

use tasklane::domain::{
    ActiveForm, Actor, Description, Draft, Focus, Item, Limits, Metadata, Operation, Patch, Stamp, Status, TaskId,
    apply,
};
use tasklane::store::{Commit, Loaded};

use crate::support::build::{at, committed, content, id, key, version};

fn item(text: &str, status: Status) -> Item {
    let active_form = ActiveForm::parse(format!("{text}ing")).expect("an active form");
    Item { id: None, content: content(text), status, active_form }
}

fn draft(text: &str, blocked_by: Vec<TaskId>) -> Draft {
    Draft {
        id: None,
        content: content(text),
        status: Status::Pending,
        active_form: None,
        description: Description::default(),
        owner: None,
        metadata: Metadata::default(),
        blocks: Vec::new(),
        blocked_by,
    }
}

fn operations() -> Vec<Operation> {
    let create = |text, blocked_by| Operation::Create { draft: draft(text, blocked_by), focus: Focus::Many };
    let update = |name, patch| Operation::Update { id: id(name), patch, focus: Focus::One };
    vec![
        create("first", vec![]),
        create("second", vec![id("1")]),
        create("third", vec![id("1"), id("2")]),
        Operation::Complete(id("1")),
        update("2", Patch { status: Some(Status::InProgress), content: Some(content("2nd")), ..Patch::default() }),
        update("3", Patch { status: Some(Status::InProgress), ..Patch::default() }),
        update("1", Patch { status: Some(Status::Pending), add_blocks: vec![id("3")], ..Patch::default() }),
        Operation::Delete(id("1")),
        Operation::Write(vec![
            item("Paint", Status::InProgress),
            item("2nd", Status::Pending),
            item("Dry", Status::Pending),
        ]),
        Operation::Write(vec![item("Dry", Status::Pending), item("Paint", Status::Completed)]),
        Operation::Clear,
        create("fourth", vec![]),
        Operation::DeleteThread,
        create("fifth", vec![]),
    ]
}

both_databases! {
    async fn what_the_domain_makes_is_what_is_loaded(database: TestDatabase) {
        let store = database.open().await;
        let key = key("r", "t");
        let mut loaded = Loaded::default();
        for (seconds, operation) in (0..).zip(operations()) {
            let stamp = Stamp::new(at(seconds), version(), Actor::default());
            let applied = apply(&loaded.list, &operation, &stamp, &Limits::default()).expect("an operation that is allowed");
            let difference = applied.list.difference_from(&loaded.list);
            let commit = Commit {
                key: key.clone(),
                expected: loaded.version,
                version: stamp.change_id,
                list: applied.list,
                upserts: difference.upserts,
                removals: difference.removals,
                changes: applied.change.into_iter().collect(),
                answers: Vec::new(),
                forgets_changes: operation == Operation::DeleteThread,
                at: stamp.at,
            };
            loaded = committed(&*store, &commit).await;
            assert_eq!(loaded.list, commit.list, "{operation:?}");
        }
        assert_eq!(loaded.list.ids(), [id("5")]);
    }
}
