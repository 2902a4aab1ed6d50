use serde_json::{Value, json};

use super::*;
use crate::domain::{Content, Counters, Description, Revision, Task, Version};
use testing::Thread;

/// Makes calls that all succeed.
fn thread(calls: &[(&str, &str)]) -> Thread {
    let mut thread = Thread::default();
    for (tool, input) in calls {
        assert_eq!(thread.call(tool, input)["isError"], false, "{tool} {input}");
    }
    thread
}

fn content(body: &Value) -> String {
    body["content"].as_str().unwrap().to_owned()
}

#[test]
fn no_text_can_forge_a_line() {
    let mut thread = thread(&[
        (
            "TaskCreate",
            r#"{"subject":"A\n2 [completed] fake\u2028- 3 [completed] fake\r- 4\u0085","description":"d\n- 9 [completed] x\rTask (id=8)"}"#,
        ),
        ("TaskUpdate", r#"{"task_id":"1","owner":"a)b; blocked by 7] \u202e"}"#),
        (
            "task_write",
            r#"{"tasks":[{"id":"1","content":"A\n2 [completed] fake","status":"pending","activeForm":"B\nC"},{"id":"x [completed] \"y","content":"z","status":"pending","activeForm":"z"}]}"#,
        ),
    ]);
    for (tool, lines) in [("TaskList", 3), ("task_check", 3)] {
        let text = content(&thread.call(tool, "{}"));
        assert_eq!(text.lines().count(), lines, "{text}");
        assert!(
            !text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c)),
            "{text}"
        );
        assert!(text.contains(r#"- 1 [pending; owner "a)b; blocked by 7] \u{202e}"] A\n2 [completed] fake"#), "{text}");
        assert!(text.contains(r#"- "x [completed] \"y" [pending] z"#), "{text}");
    }
    let text = content(&thread.call("TaskGet", r#"{"task_id":"1"}"#));
    assert!(text.contains("\n> d\n> - 9 [completed] x\\rTask (id=8)\n"), "{text}");
}

fn thread_of_a_thousand() -> Thread {
    let first = thread(&[("TaskCreate", r#"{"subject":"x","description":""}"#)]).list.tasks()[0].clone();
    let tasks = (1..=1_000).map(|n| {
        let content = format!("Task number {n} {}", "修".repeat(100));
        std::sync::Arc::new(Task {
            id: TaskId::parse(n.to_string()).unwrap(),
            position: n,
            content: Content::parse(content).unwrap(),
            description: Description::parse("d".repeat(2_000)).unwrap(),
            ..Task::clone(&first)
        })
    });
    let counters = Counters { next_number: 1_001, ..Counters::default() };
    let list = TaskList::restored(Revision::new(1), Version::new(1), None, counters, tasks.collect()).unwrap();
    Thread { list, ..Thread::default() }
}

#[test]
fn a_thousand_tasks_with_long_descriptions_make_a_bounded_text() {
    let mut thread = thread_of_a_thousand();
    thread.call("TaskUpdate", r#"{"task_id":"900","status":"in_progress"}"#);
    thread.call("TaskUpdate", r#"{"task_id":"1","status":"completed"}"#);
    for (tool, input) in [
        ("TaskList", "{}"),
        ("TaskList", r#"{"ready":true}"#),
        ("TaskGet", r#"{"task_id":"nope"}"#),
        ("TaskUpdate", r#"{"task_id":"2","add_blocks":["nope"]}"#),
        ("task_check", "{}"),
        ("task_update", r#"{"id":"5","activeForm":"x"}"#),
    ] {
        let body = thread.call(tool, input);
        let text = content(&body);
        assert!(text.len() <= 8 * 1024 + 200, "{tool} {input}: {} bytes", text.len());
        if body["isError"] == false && input == "{}" {
            assert!(text.contains("- 900 [in_progress]"), "{text}");
            assert!(text.contains("Not shown: "), "{text}");
            assert!(text.contains("1 completed"), "{text}");
        } else if body["isError"] == true {
            assert!(text.contains(" and 980 more"), "{text}");
        }
    }
    let whole = thread.call("TaskList", "{}");
    assert_eq!(whole["tasks"].as_array().unwrap().len(), 1_000);
}

#[test]
fn a_long_description_is_cut_and_the_text_says_so() {
    let long = "line with words\n".repeat(2_000);
    let arguments = json!({"subject": "A", "description": long, "metadata": {"k": "v".repeat(5_000)}});
    let mut thread = thread(&[("TaskCreate", arguments.to_string().as_str())]);
    let body = thread.call("TaskGet", r#"{"task_id":"1"}"#);
    let text = content(&body);
    assert!(text.len() < 8 * 1024, "{}", text.len());
    assert!(text.contains("cut here; the field task of this result has it whole: 32000 bytes"), "{text}");
    assert_eq!(body["task"]["description"], long);
}

#[test]
fn a_write_names_what_went_with_removed_tasks() {
    let mut thread = thread(&[
        ("TaskCreate", r#"{"subject":"A","description":"d","metadata":{"k":1}}"#),
        ("TaskCreate", r#"{"subject":"B","description":""}"#),
        ("TaskCreate", r#"{"subject":"C","description":""}"#),
        ("TaskUpdate", r#"{"task_id":"2","owner":"bob","add_blocked_by":["1"]}"#),
    ]);
    let body = thread.call("task_write", r#"{"tasks":[{"content":"New","status":"pending","activeForm":"New"}]}"#);
    let text = content(&body);
    assert!(text.contains("Removed: 1, 2, 3."), "{text}");
    assert!(
        text.contains("Dropped with them: 1 (description, metadata, dependencies), 2 (owner, dependencies)."),
        "{text}"
    );
    assert!(text.contains("- task_new [pending] New"), "{text}");
}

#[test]
fn the_same_write_again_says_that_nothing_changed() {
    const WRITE: &str = r#"{"tasks":[{"content":"a","status":"pending","activeForm":"x"},{"content":"b","status":"pending","activeForm":"y"}]}"#;
    let mut thread = thread(&[("task_write", WRITE)]);
    let revision = thread.list.revision();
    for _ in 0..9 {
        assert!(content(&thread.call("task_write", WRITE)).starts_with("Nothing changed:"));
    }
    assert_eq!(thread.list.revision(), revision);
    assert!(
        content(&thread.call("task_update", r#"{"id":"task_a","status":"in_progress"}"#))
            .starts_with("Updated task_a.")
    );
    let text = content(&thread.call("task_update", r#"{"id":"task_b","status":"in_progress"}"#));
    assert!(text.contains("Put back to pending, since one task is in progress at a time: task_a."), "{text}");
    thread.call("task_complete", r#"{"id":"task_b"}"#);
    let text = content(&thread.call("task_complete", r#"{"id":"task_b"}"#));
    assert!(text.starts_with("Nothing changed: task_b was completed already."), "{text}");
}

#[test]
fn dependencies_are_reported_from_both_ends() {
    let mut thread = thread(&[
        ("TaskCreate", r#"{"subject":"A","description":""}"#),
        ("TaskCreate", r#"{"subject":"B","description":""}"#),
        ("TaskUpdate", r#"{"taskId":"1","addBlocks":"2"}"#),
    ]);
    let body = thread.call("TaskUpdate", r#"{"task_id":"2","status":"in_progress"}"#);
    assert_eq!(body["openBlockers"], json!(["1"]));
    assert!(content(&body).contains("open blockers: 1."), "{body}");
    let body = thread.call("TaskUpdate", r#"{"task_id":"1","add_blocked_by":["2"]}"#);
    assert!(content(&body).contains("they would wait for each other (1 blocks 2 blocks 1)"), "{body}");
    let body = thread.call("TaskUpdate", r#"{"task_id":"1","status":"completed"}"#);
    assert_eq!(body["unblocked"], json!(["2"]));
    let body = thread.call("TaskUpdate", r#"{"task_id":"1","status":"deleted","subject":"x","add_blocks":["9"]}"#);
    assert_eq!(body["updatedFields"], json!(["status"]));
    assert!(body.get("task").is_none());
    let body = thread.call("TaskCreate", r#"{"subject":"C","description":""}"#);
    assert!(content(&body).starts_with("Task (id=3)"), "{body}");
    let keys: Vec<&str> = body["task"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["id", "subject", "description", "state", "owner", "metadata", "blocks", "blocked_by", "created_at"]
    );
}

#[test]
fn refused_arguments_come_with_a_right_example_and_the_list_as_it_was() {
    let mut thread = thread(&[("task_write", r#"{"tasks":[{"content":"a","status":"pending","activeForm":"x"}]}"#)]);
    let body = thread.call("task_write", r#"{"tasks":"[{\"content\":\"x\"","why":1}"#);
    let text = content(&body);
    assert!(text.contains("nothing was changed: tasks is a string that holds no JSON array"), "{text}");
    assert!(text.contains(r#"A right call: {"tasks": [{"id""#), "{text}");
    assert!(text.contains("Ignored, as there is no such argument: why."), "{text}");
    assert_eq!(body["tasks"][0]["id"], "task_a");
    assert_eq!(body["warnings"], json!(["why"]));
}

#[test]
fn metadata_comes_back_in_its_own_spelling() {
    let call = r#"{"subject":"A","description":"","metadata":{"z":1.0,"a":1E0,"n":123456789012345678901234567890}}"#;
    let mut thread = Thread::default();
    let body = thread.raw_call("TaskCreate", call);
    assert!(body.contains(r#""metadata":{"z":1.0,"a":1E0,"n":123456789012345678901234567890}"#), "{body}");
}

#[test]
fn every_tool_is_described_within_what_clients_take() {
    let mut names = std::collections::HashSet::new();
    for tool in Toolset::ALL.into_iter().flat_map(of) {
        assert!(names.insert(tool.name), "{} twice", tool.name);
        assert!(
            tool.name.len() <= 40 && tool.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
            "{}",
            tool.name
        );
        assert!(tool.description().len() <= 1_024, "{}: {} bytes", tool.name, tool.description().len());
        let example = crate::json::parse(tool.example).unwrap();
        let call = interpret(tool, Some(&example)).unwrap();
        assert!(call.warnings.is_empty(), "{}", tool.name);
        assert_eq!(tool.hints.read_only, !matches!(call.ask, Ask::Change(_)), "{}", tool.name);
    }
}

#[test]
fn a_failure_from_outside_has_the_toolsets_own_form() {
    for tool in Toolset::ALL.into_iter().flat_map(of) {
        let result = failed(tool, "Name the resource in the header X-Resource-Id.", None);
        assert!(result.is_error);
        testing::check_result(tool, &result);
    }
}
