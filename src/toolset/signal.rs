//! What an agent runtime puts into an agent's context so that the agent knows its list: all of it, or what changed since.
//!
//! It looks only at id, content, status and active form; a mere change of order is nothing.

mod text;

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::domain::{Revision, Task, TaskId, TaskList, digest};

/// After so many deltas in a row the whole list is said again.
const DELTAS_MAX: u32 = 10;

/// What to say of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Signal<'a> {
    /// How much is said.
    pub mode: Mode,
    /// The list's revision, to be given as the base of the next signal.
    pub revision: Revision,
    /// What is said, unless it is nothing.
    #[serde(flatten)]
    pub said: Option<Said<'a>>,
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

/// The text of a signal, and what it was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Said<'a> {
    /// The tag that the text is put into.
    pub tag_name: &'static str,
    /// The text, one line a task.
    pub contents: String,
    /// The tag's attributes.
    pub attributes: Attributes,
    /// Differs whenever one of the four fields of any task, or the order, differs.
    pub cache_key: String,
    /// The steps of a delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<Vec<Step<'a>>>,
}

/// The attributes of a signal's tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attributes {
    /// How many tasks a snapshot has.
    Count(usize),
    /// How many steps a delta has.
    Changes(usize),
}

/// One step of a delta: tasks that came or read differently in list order, then those that went in their old order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
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
        id: &'a TaskId,
    },
}

/// A task, as far as a signal looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FourFields<'a>(&'a Task);

impl Serialize for FourFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields<'a> {
            id: &'a str,
            content: &'a str,
            status: &'a str,
            active_form: &'a str,
        }
        let [id, content, status, active_form] = four_fields(self.0);
        Fields { id, content, status, active_form }.serialize(serializer)
    }
}

fn four_fields(task: &Task) -> [&str; 4] {
    [task.id.as_str(), task.content.as_str(), task.status.as_str(), task.active_form()]
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
    let nothing = Signal { mode: Mode::None, revision: list.revision(), said: None };
    let base = match base {
        Base::Missing if list.tasks().is_empty() => return nothing,
        Base::Missing | Base::Unknown => return snapshot(list, bytes_max),
        Base::Known(base) => base,
    };
    let steps = steps(base, list);
    if steps.is_empty() {
        return nothing;
    }
    if deltas >= DELTAS_MAX {
        return snapshot(list, bytes_max);
    }
    let said = Said {
        tag_name: "task-list-update",
        contents: text::of_steps(&steps, list, bytes_max),
        attributes: Attributes::Changes(steps.len()),
        cache_key: cache_key(list),
        ops: Some(steps),
    };
    Signal { mode: Mode::Delta, said: Some(said), ..nothing }
}

fn snapshot(list: &TaskList, bytes_max: Option<usize>) -> Signal<'_> {
    let said = Said {
        tag_name: "current-task-list",
        contents: text::of_list(list, bytes_max),
        attributes: Attributes::Count(list.tasks().len()),
        cache_key: cache_key(list),
        ops: None,
    };
    Signal { mode: Mode::Snapshot, revision: list.revision(), said: Some(said) }
}

fn steps<'a>(base: &'a [Arc<Task>], list: &'a TaskList) -> Vec<Step<'a>> {
    let was: HashMap<&TaskId, &Task> = base.iter().map(|task| (&task.id, task.as_ref())).collect();
    let is: HashMap<&TaskId, &Task> = list.tasks().iter().map(|task| (&task.id, task.as_ref())).collect();
    let told = list.tasks().iter().filter_map(|task| match was.get(&task.id) {
        None => Some(Step::Add { task: FourFields(task) }),
        Some(before) if four_fields(before) != four_fields(task) => Some(Step::Update { task: FourFields(task) }),
        Some(_) => None,
    });
    let gone = base.iter().filter(|task| !is.contains_key(&task.id)).map(|task| Step::Remove { id: &task.id });
    told.chain(gone).collect()
}

fn cache_key(list: &TaskList) -> String {
    format!("tasks-{:032x}", digest(list.tasks().iter().flat_map(|task| four_fields(task))))
}

#[cfg(test)]
mod tests;
