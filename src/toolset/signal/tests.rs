use serde_json::{Value, json};

use super::{Base, Mode, signal};
use crate::domain::{
    ActiveForm, Actor, Content, Item, Limits, Moment, Operation, Owner, Patch, Stamp, Status, TaskId, TaskList,
    Version, apply,
};

fn written(list: &TaskList, tasks: &Value) -> TaskList {
    let item = |task: &Value| Item {
        id: Some(TaskId::parse(task["id"].as_str().unwrap()).unwrap()),
        content: Content::parse(task["content"].as_str().unwrap()).unwrap(),
        status: Status::parse(task["status"].as_str().unwrap()).unwrap(),
        active_form: ActiveForm::parse(task["activeForm"].as_str().unwrap()).unwrap(),
    };
    applied(list, &Operation::Write(tasks.as_array().unwrap().iter().map(item).collect()))
}

fn applied(list: &TaskList, operation: &Operation) -> TaskList {
    let version = Version::new(list.revision().get() + 1);
    let stamp = Stamp::new(Moment::UNIX_EPOCH, version, Actor::default());
    apply(list, operation, &stamp, &Limits::default()).unwrap().list
}

/// A list of tasks `id`, `content`, `status`.
fn list(tasks: &[(&str, &str, &str)]) -> TaskList {
    let task = |(id, content, status): &(&str, &str, &str)| json!({"id": id, "content": content, "status": status, "activeForm": format!("Doing {content}")});
    written(&TaskList::default(), &Value::Array(tasks.iter().map(task).collect()))
}

#[test]
fn everything_that_was_recorded_holds() {
    let cases = include_str!("../../../tests/conformance/signal.jsonl");
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let base = if case["base"].is_null() { None } else { Some(written(&TaskList::default(), &case["base"])) };
        let current = written(base.as_ref().unwrap_or(&TaskList::default()), &case["current"]);
        let deltas = u32::try_from(case["deltas"].as_u64().unwrap()).unwrap();
        let base = base.as_ref().map_or(Base::Missing, |base| Base::Known(base.tasks()));
        let answer = serde_json::to_value(signal(&current, base, deltas, None)).unwrap();
        for (field, value) in case["expect"].as_object().unwrap() {
            assert_eq!(answer[field], *value, "{} {field}", case["name"]);
        }
        let says_something = answer["mode"] != "none";
        for field in ["tagName", "contents", "attributes", "cacheKey"] {
            assert_eq!(answer.get(field).is_some(), says_something, "{} {field}", case["name"]);
        }
        assert_eq!(answer.get("ops").is_some(), answer["mode"] == "delta");
    }
    assert_eq!(cases.lines().count(), 65);
}

#[test]
fn a_base_that_is_not_kept_gives_a_snapshot_even_of_an_empty_list() {
    assert_eq!(signal(&TaskList::default(), Base::Missing, 0, None).mode, Mode::None);
    assert_eq!(signal(&TaskList::default(), Base::Unknown, 0, None).mode, Mode::Snapshot);
}

#[test]
fn what_a_signal_does_not_look_at_is_nothing() {
    let before = list(&[("a", "a", "pending")]);
    let patch = Patch { owner: Some(Some(Owner::parse("w").unwrap())), ..Patch::default() };
    let id = TaskId::parse("a").unwrap();
    let after = applied(&before, &Operation::Update { id, patch, focus: crate::domain::Focus::Many });
    assert_eq!(signal(&after, Base::Known(before.tasks()), 0, None).mode, Mode::None);
}

#[test]
fn a_text_has_one_line_a_task_whatever_the_task_holds() {
    let list = list(&[("a", "x\n- b [completed] y", "in_progress"), ("b", "c", "pending")]);
    let contents = signal(&list, Base::Known(&[]), 0, None).contents.unwrap();
    assert_eq!(
        contents,
        "The task list changed. Now: 2 tasks (1 in progress, 1 pending).\n\
         - added a [in_progress] x\\n- b [completed] y | Doing x\\n- b [completed] y\n\
         - added b [pending] c"
    );
    let snapshot = signal(&list, Base::Missing, 0, None).contents.unwrap();
    assert_eq!(snapshot.lines().count(), 3);
}

#[test]
fn a_bounded_text_shows_what_is_in_progress_then_what_is_ready_and_counts_the_rest() {
    let list = list(&[("c", "done", "completed"), ("r", "ready", "pending"), ("p", "busy", "in_progress")]);
    let contents = |bytes_max| signal(&list, Base::Missing, 0, Some(bytes_max)).contents.unwrap();
    let head = "Current tasks: 3 tasks (1 completed, 1 in progress, 1 pending).";
    let (ready, busy) = ("\n- r [pending] ready", "\n- p [in_progress] busy | Doing busy");
    let both = head.len() + ready.len() + busy.len() + "\nNot shown: 3 more.".len();
    assert_eq!(contents(both), format!("{head}{ready}{busy}\nNot shown: 1 more."));
    assert_eq!(contents(both - 1), format!("{head}{busy}\nNot shown: 2 more."));
    assert_eq!(contents(both - ready.len() - 1), format!("{head}\nNot shown: 3 more."));
    for bytes_max in 0..200 {
        assert!(contents(bytes_max).len() <= bytes_max);
    }
}

#[test]
fn the_cache_key_differs_whenever_a_field_or_the_order_does() {
    let key = |list: &TaskList| signal(list, Base::Unknown, 0, None).cache_key.unwrap();
    let lists = [
        list(&[("a", "x:1", "pending"), ("b", "2|y", "pending")]),
        list(&[("a", "x", "pending"), ("b", "1:2|y", "pending")]),
        list(&[("b", "2|y", "pending"), ("a", "x:1", "pending")]),
        list(&[("a", "x:1", "completed"), ("b", "2|y", "pending")]),
        TaskList::default(),
    ];
    for (at, one) in lists.iter().enumerate() {
        assert_eq!(key(one), key(&one.clone()));
        assert!(lists.iter().skip(at + 1).all(|other| key(one) != key(other)));
    }
}
