//! A thread for tests: tool calls on a list in memory, as an edge makes them.

use serde_json::Value;

use super::schema::{Kind, Object};
use super::{Ask, Call, Tool, ToolResult, find, interpret, invalid, refused};
use crate::domain::{Actor, Limits, Moment, Outcome, Stamp, TaskList, Version, apply};
use crate::json;

/// A list under test, and a clock that moves with each call.
#[derive(Default)]
pub(super) struct Thread {
    pub(super) list: TaskList,
    pub(super) calls: i64,
}

impl Thread {
    /// Calls a tool as an edge does; returns the result's JSON.
    pub(super) fn call(&mut self, tool: &str, input: &str) -> Value {
        serde_json::from_str(&self.raw_call(tool, input)).unwrap()
    }

    /// Calls a tool; returns the text of the result's JSON.
    pub(super) fn raw_call(&mut self, tool: &str, input: &str) -> String {
        self.calls += 1;
        let tool = find(tool).unwrap();
        let arguments = json::parse(input).unwrap();
        let at = Moment::from_timestamp(1_700_000_000 + self.calls, 0).unwrap();
        let stamp = Stamp::new(at, Version::new(self.calls), Actor::default());
        let result = match interpret(tool, Some(&arguments)) {
            Err(faults) => invalid(tool, &faults, &self.list),
            Ok(call) => match &call.ask {
                Ask::Read | Ask::History(_) | Ask::Wait(_) => call.answered(&self.list, &Outcome::default(), false),
                Ask::Change(operation) => match apply(&self.list, operation, &shown(&stamp, &call), &Limits::default())
                {
                    Ok(applied) => {
                        self.list = applied.list;
                        call.answered(&self.list, &applied.outcome, applied.change.is_some())
                    }
                    Err(refusal) => refused(tool, &refusal, &self.list, &call.warnings),
                },
            },
        };
        check_result(tool, &result);
        crate::json::to_text(&result)
    }
}

/// The stamp of a call that shows its lease token.
fn shown(stamp: &Stamp, call: &Call) -> Stamp {
    Stamp { token: call.token.clone(), ..stamp.clone() }
}

/// Checks what holds for every result.
pub(super) fn check_result(tool: &Tool, result: &ToolResult) {
    assert!(!result.text.is_empty());
    let body: Value = serde_json::from_str(result.body.get()).unwrap();
    assert_eq!(body["isError"], result.is_error);
    assert_eq!(body["content"], result.text);
    check(&tool.output, &body, tool.name);
}

/// Checks a result against its schema: a client that validates must be able to read refusals too.
fn check(schema: &Object, value: &Value, place: &str) {
    let members = value.as_object().unwrap_or_else(|| panic!("{place} is no object: {value}"));
    for (key, value) in members {
        let property = schema.properties.iter().find(|property| property.name == key);
        let property = property.unwrap_or_else(|| panic!("{place}.{key} is not in the schema"));
        let place = format!("{place}.{key}");
        let fits = match &property.kind {
            Kind::Text { chars_min, chars_max } => value.as_str().is_some_and(|text| {
                let chars = text.chars().count();
                chars >= *chars_min && chars_max.is_none_or(|most| chars <= most)
            }),
            Kind::TextOrNull => value.is_string() || value.is_null(),
            Kind::Choice(names) => value.as_str().is_some_and(|text| names.contains(&text)),
            Kind::Integer { least, most } => value.as_i64().is_some_and(|n| (*least..=*most).contains(&n)),
            Kind::Boolean => value.is_boolean(),
            Kind::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::Open => value.is_object(),
            Kind::Object(object) => {
                check(object, value, &place);
                true
            }
            Kind::Objects(object) => {
                value.as_array().unwrap().iter().for_each(|item| check(object, item, &place));
                true
            }
        };
        assert!(fits, "{place} does not fit its schema: {value}");
    }
    for property in schema.properties.iter().filter(|property| property.is_required) {
        assert!(members.contains_key(property.name), "{place}.{} is absent", property.name);
    }
}
