//! What an agent runtime puts into an agent's context so that the agent knows its list: all of it, or what changed since.
//!
//! It looks only at id, content, status and active form; a mere change of order is nothing.

mod text;

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::Object;

use crate::domain::{Revision, Status, Task, TaskId, TaskList, digest};
use crate::wire::choice;

/// After so many deltas in a row the whole list is said again.
const DELTAS_MAX: u32 = 10;

/// What to say of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignalOut)]
pub struct Signal<'a> {
    /// How much is said.
    #[schema(schema_with = mode)]
    pub mode: Mode,
    /// The list's revision, to be given as the base of the next signal.
    #[schema(value_type = i64, minimum = 0)]
    pub revision: Revision,
    /// The tag that the text is put into; absent if nothing is said, as all that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tag_name: Option<&'static str>,
    /// The text, one line a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub contents: Option<String>,
    /// The tag's attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, inline)]
    pub attributes: Option<Attributes>,
    /// Differs whenever one of the four fields of any task, or the order, differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cache_key: Option<String>,
    /// The steps of a delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ops: Option<Vec<Step<'a>>>,
}

/// How much a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing: the agent knows the list.
    None,
    /// The whole list.
    Snapshot,
    /// What changed since the base.
    Delta,
}

fn mode() -> Object {
    choice("How much is said.", ["none", "snapshot", "delta"])
}

/// The attributes of a signal's tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Attributes {
    /// How many tasks there are; of a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    pub count: Option<usize>,
    /// How many steps there are; of a delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    pub changes: Option<usize>,
}

/// One step of a delta: tasks that came or read differently in list order, then those that went in their old order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
#[schema(as = SignalStepOut)]
pub enum Step<'a> {
    /// A task came.
    Add {
        /// As it is.
        task: FourFields<'a>,
    },
    /// A task reads differently.
    Update {
        /// As it is.
        task: FourFields<'a>,
    },
    /// A task went.
    Remove {
        /// Which.
        #[schema(value_type = String)]
        id: &'a TaskId,
    },
}

/// A task, as far as a signal looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignalTaskOut)]
pub struct FourFields<'a> {
    /// Its id.
    #[schema(value_type = String)]
    pub id: &'a TaskId,
    /// What is to be done.
    pub content: &'a str,
    /// How far it is.
    #[schema(schema_with = crate::wire::status)]
    pub status: Status,
    /// The same in the present continuous.
    pub active_form: &'a str,
}

impl<'a> FourFields<'a> {
    fn of(task: &'a Task) -> Self {
        let (content, active_form) = (task.content.as_str(), task.active_form());
        Self { id: &task.id, content, status: task.status, active_form }
    }
}

/// What the agent knows already.
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    /// Nothing.
    Missing,
    /// A list that is not kept any more, or never was.
    Unknown,
    /// These tasks.
    Known(&'a [Arc<Task>]),
}

/// Says what an agent has to know of a list, given what it knows already and how many deltas in a row it was told.
///
/// The text has at most `bytes_max` bytes, if a bound is given: tasks in progress have room first, then those that are
/// ready; how many others there are is counted.
#[must_use]
pub fn signal<'a>(list: &'a TaskList, base: Base<'a>, deltas: u32, bytes_max: Option<usize>) -> Signal<'a> {
    let base = match base {
        Base::Missing if list.tasks().is_empty() => return nothing(list),
        Base::Missing | Base::Unknown => return snapshot(list, bytes_max),
        Base::Known(base) => base,
    };
    let steps = steps(base, list);
    if steps.is_empty() {
        return nothing(list);
    }
    if deltas >= DELTAS_MAX {
        return snapshot(list, bytes_max);
    }
    Signal {
        mode: Mode::Delta,
        tag_name: Some("task-list-update"),
        contents: Some(text::of_steps(&steps, list, bytes_max)),
        attributes: Some(Attributes { count: None, changes: Some(steps.len()) }),
        cache_key: Some(cache_key(list)),
        ops: Some(steps),
        ..nothing(list)
    }
}

fn nothing<'a>(list: &TaskList) -> Signal<'a> {
    let revision = list.revision();
    Signal { mode: Mode::None, revision, tag_name: None, contents: None, attributes: None, cache_key: None, ops: None }
}

fn snapshot<'a>(list: &TaskList, bytes_max: Option<usize>) -> Signal<'a> {
    Signal {
        mode: Mode::Snapshot,
        tag_name: Some("current-task-list"),
        contents: Some(text::of_list(list, bytes_max)),
        attributes: Some(Attributes { count: Some(list.tasks().len()), changes: None }),
        cache_key: Some(cache_key(list)),
        ..nothing(list)
    }
}

fn steps<'a>(base: &'a [Arc<Task>], list: &'a TaskList) -> Vec<Step<'a>> {
    let was: HashMap<&TaskId, &Task> = base.iter().map(|task| (&task.id, task.as_ref())).collect();
    let is: HashMap<&TaskId, &Task> = list.tasks().iter().map(|task| (&task.id, task.as_ref())).collect();
    let told = list.tasks().iter().filter_map(|task| match was.get(&task.id) {
        None => Some(Step::Add { task: FourFields::of(task) }),
        Some(before) if FourFields::of(before) == FourFields::of(task) => None,
        Some(_) => Some(Step::Update { task: FourFields::of(task) }),
    });
    let gone = base.iter().filter(|task| !is.contains_key(&task.id)).map(|task| Step::Remove { id: &task.id });
    told.chain(gone).collect()
}

fn cache_key(list: &TaskList) -> String {
    let texts = list
        .tasks()
        .iter()
        .flat_map(|task| [task.id.as_str(), task.content.as_str(), task.status.as_str(), task.active_form()]);
    format!("tasks-{:032x}", digest(texts))
}

#[cfg(test)]
mod tests;
