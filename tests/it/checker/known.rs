//! What clients have learnt of a thread, so that their calls are about what there is.

use std::collections::HashMap;

use super::call::{Answer, Call, Condition, Route, Token};
use super::operation::Operation;
use super::order::revision_of;

/// The most lease tokens that are remembered: some of them are old, on purpose.
const TOKENS_MAX: usize = 6;

#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) ids: Vec<String>,
    pub(crate) revision: i64,
    pub(crate) tokens: Vec<Token>,
    list_tag: Option<String>,
    task_tags: HashMap<String, String>,
}

impl Known {
    /// Remembers what an answer told.
    pub(crate) fn learn(&mut self, call: &Call, answer: &Answer) {
        if let Some(tag) = &answer.etag {
            match (revision_of(tag, "list"), named(&call.operation)) {
                (Some(revision), _) if revision >= self.revision => {
                    self.revision = revision;
                    self.list_tag = Some(tag.clone());
                }
                (None, Some(id)) => drop(self.task_tags.insert(id.clone(), tag.clone())),
                _ => {}
            }
        }
        if let Some(tasks) = answer.body["tasks"].as_array() {
            self.ids = tasks.iter().filter_map(|task| task["id"].as_str()).map(str::to_owned).collect();
        }
        let lease = answer.body["lease"]["token"].as_str().zip(answer.body["task"]["id"].as_str());
        if let Some((text, task)) = lease.filter(|_| matches!(call.operation, Operation::Claim { .. })) {
            if self.tokens.iter().all(|token| token.text != text) {
                self.tokens.push(Token { task: task.to_owned(), text: text.to_owned() });
            }
            if self.tokens.len() > TOKENS_MAX {
                self.tokens.remove(0);
            }
        }
    }

    /// The tag of what a call is about, if one was seen.
    pub(crate) fn condition(&self, route: Route, operation: &Operation) -> Option<Condition> {
        let task = match (route, operation) {
            (Route::Rest, Operation::Update { id, .. } | Operation::Complete(id) | Operation::Delete(id)) => Some(id),
            _ => None,
        };
        let tag = match task {
            Some(id) => self.task_tags.get(id),
            None => self.list_tag.as_ref(),
        };
        tag.map(|tag| Condition { tag: tag.clone(), task: task.cloned() })
    }
}

fn named(operation: &Operation) -> Option<&String> {
    match operation {
        Operation::Update { id, .. } | Operation::Complete(id) | Operation::ReadTask(id) => Some(id),
        _ => None,
    }
}
