//! What is committed is what is loaded.

use chrono::SubsecRound;
use tasklane::domain::{ActiveForm, Counters, Description, Lease, Metadata, Owner, Revision, Status, Task, TaskList};
use tasklane::json;
use tasklane::store::{Committed, Loaded};

use crate::support::build::{answer, at, commit, content, contents, id, key, list, quiet_commit, task, version};

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
}
