//! A thread for tests: tool calls on a list in memory, as an edge makes them.

use serde_json::Value;

use super::{Ask, find, interpret, invalid, refused};
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
                Ask::Read => call.answered(&self.list, &Outcome::default(), false),
                Ask::Change(operation) => match apply(&self.list, operation, &stamp, &Limits::default()) {
                    Ok(applied) => {
                        self.list = applied.list;
                        call.answered(&self.list, &applied.outcome, applied.change.is_some())
                    }
                    Err(refusal) => refused(tool, &refusal, &self.list, &call.warnings),
                },
            },
        };
        assert!(!result.text.is_empty());
        let body: Value = serde_json::from_str(result.body.get()).unwrap();
        assert_eq!(body["isError"], result.is_error);
        assert_eq!(body["content"], result.text);
        crate::json::to_text(&result)
    }
}
