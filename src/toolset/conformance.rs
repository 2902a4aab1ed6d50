//! Replays what was recorded from the originals, without a server: arguments, domain, result.

use serde_json::Value;

use super::testing::Thread;
use crate::domain::{Json, TaskList};
use crate::json;

/// Runs each step of each case of a file; `check` compares the step's answer with what is expected.
fn replay(file: &str, check: impl Fn(&TaskList, &TaskList, &Value, &Value) -> Result<(), String>) -> usize {
    let mut failures = Vec::new();
    let mut cases = 0;
    for line in file.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        // The inputs are read from the text again, since a Value would spell their numbers anew.
        let inputs: Case<'_> = serde_json::from_str(line).unwrap();
        let mut thread = Thread::default();
        cases += 1;
        for (at, (step, raw)) in case["steps"].as_array().unwrap().iter().zip(inputs.steps).enumerate() {
            let before = thread.list.clone();
            let body = thread.call(step["tool"].as_str().unwrap(), raw.input.get());
            if let Err(why) = check(&before, &thread.list, &step["expect"], &body) {
                failures.push(format!("{} step {at}: {why}\n  input {}\n  answer {body}", case["name"], raw.input));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} cases fail:\n{}", failures.len(), failures.join("\n"));
    cases
}

#[derive(serde::Deserialize)]
struct Case<'a> {
    #[serde(borrow)]
    steps: Vec<Step<'a>>,
}

#[derive(serde::Deserialize)]
struct Step<'a> {
    #[serde(borrow)]
    input: &'a serde_json::value::RawValue,
}

fn equal(what: &str, have: &Value, want: &Value) -> Result<(), String> {
    if have == want { Ok(()) } else { Err(format!("{what}\n  is    {have}\n  wants {want}")) }
}

fn check_invalid(before: &TaskList, after: &TaskList, body: &Value) -> Result<(), String> {
    equal("isError", &body["isError"], &true.into())?;
    if before == after { Ok(()) } else { Err("a refusal changed the list".to_owned()) }
}

#[test]
fn every_recorded_mastra_case_holds() {
    let cases = replay(include_str!("../../tests/conformance/mastra.jsonl"), |before, after, expect, body| {
        if expect["invalid"] == true {
            return check_invalid(before, after, body);
        }
        ["isError", "tasks", "summary", "incompleteTasks"]
            .iter()
            .try_for_each(|key| equal(key, &body[key], &expect[key]))
    });
    assert_eq!(cases, 217);
}

#[test]
fn every_recorded_agentscope_case_holds() {
    let cases = replay(include_str!("../../tests/conformance/agentscope.jsonl"), |before, after, expect, body| {
        if expect["invalid"] == true {
            return check_invalid(before, after, body);
        }
        equal("isError", &body["isError"], &expect["isError"])?;
        if !expect["updatedFields"].is_null() {
            equal("updatedFields", &body["updatedFields"], &expect["updatedFields"])?;
        }
        check_state(after, &expect["state"])
    });
    assert_eq!(cases, 190);
}

fn check_state(list: &TaskList, expect: &Value) -> Result<(), String> {
    let mut state: Vec<Value> = list
        .views()
        .iter()
        .map(|view| {
            let task = &view.task;
            // By way of text, so that a number is compared as the recording's reader reads it.
            let metadata: Value = serde_json::from_str(&json::to_text(&Json::from(task.metadata.clone()))).unwrap();
            serde_json::json!({
                "id": task.id, "content": task.content, "status": task.status, "description": task.description,
                "metadata": metadata, "owner": task.owner, "blocks": view.blocks, "blockedBy": view.blocked_by,
            })
        })
        .collect();
    let mut expected = expect.as_array().unwrap().clone();
    for task in state.iter_mut().chain(&mut expected) {
        for edges in ["blocks", "blockedBy"] {
            task[edges].as_array_mut().unwrap().sort_by_key(ToString::to_string);
        }
    }
    equal("state", &state.into(), &expected.into())
}
