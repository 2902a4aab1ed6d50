//! What a tool is, and the families of tools: arguments become an operation, an outcome becomes a result.
//!
//! Pure: nothing here waits, stores or knows how a call arrived. An edge finds the [`Tool`], has its arguments
//! [`interpret`]ed, lets the service do what the call [`Ask`]s, and answers with one of [`Call::answered`], [`refused`],
//! [`invalid`] and [`failed`]. Every result stands alone twice: as a text, and as a JSON object.

mod agentscope;
mod answer_text;
pub mod arguments;
mod coordination;
pub mod export;
mod mastra;
pub mod refusal_text;
mod result;
pub mod schema;
pub mod signal;
mod wording;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::domain::{Change, Filter, History, Json, Operation, Outcome, Revision, TaskId, TaskList};

pub use answer_text::{headline, list_text};
pub use arguments::{Fault, Invalid};
use arguments::{Fields, Manner, Read};
use result::raw;
pub use result::{ToolResult, failed, invalid, refused};
use schema::Object;

/// A family of tools with its own argument names, rules and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// Mastra's four task tools.
    Mastra,
    /// `AgentScope`'s four task tools.
    AgentScope,
    /// Claims, history and waiting.
    Coordination,
}

impl Toolset {
    /// Every toolset.
    pub const ALL: [Self; 3] = [Self::Mastra, Self::AgentScope, Self::Coordination];

    /// Returns the toolset of exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|toolset| toolset.as_str() == name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mastra => "mastra",
            Self::AgentScope => "agentscope",
            Self::Coordination => "coordination",
        }
    }

    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Mastra => &mastra::TOOLS,
            Self::AgentScope => &agentscope::TOOLS,
            Self::Coordination => &coordination::TOOLS,
        }
    }
}

/// One tool, as an agent is told about it.
#[derive(Debug)]
pub struct Tool {
    /// The name that a call gives; unique over all toolsets.
    pub name: &'static str,
    /// The family that it belongs to.
    pub toolset: Toolset,
    /// The name for people.
    pub title: &'static str,
    /// When to use it, when not, and its rules.
    pub purpose: &'static str,
    /// Right arguments, as JSON.
    pub example: &'static str,
    /// What a client may assume of it.
    pub hints: Hints,
    /// Its arguments.
    pub input: Object,
    /// Its results, refusals included.
    pub output: Object,
    read: fn(&mut Fields<'_>) -> Option<Meant>,
}

/// What a client may assume of a tool without knowing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may remove or overwrite what was there.
    pub destructive: bool,
    /// A second equal call does nothing more.
    pub idempotent: bool,
}

impl Hints {
    const READS: Self = Self { read_only: true, destructive: false, idempotent: true };
}

impl Tool {
    /// Returns the description for a model: purpose, rules and one example.
    #[must_use]
    pub fn description(&self) -> String {
        format!("{}\n\nExample: {}", self.purpose, self.example)
    }
}

/// Returns the tool with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    Toolset::ALL.into_iter().flat_map(Toolset::tools).find(|tool| tool.name == name)
}

/// Returns the tools of a toolset, in the order in which they are shown.
pub fn of(toolset: Toolset) -> impl Iterator<Item = &'static Tool> {
    toolset.tools().iter()
}

/// What a call wants of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The list as it is.
    Read,
    /// A change of the list.
    Change(Operation),
    /// Changes that were made; see [`Call::told`].
    History(HistoryAsk),
    /// Waiting for a change; see [`Call::waited`].
    Wait(WaitAsk),
}

/// Which changes a call wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryAsk {
    /// Only those after this revision.
    pub after: Revision,
    /// The most changes.
    pub limit: usize,
    /// Only those that touched this task.
    pub task: Option<TaskId>,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitAsk {
    /// The revision that the list is to pass.
    pub after: Revision,
    /// The longest to wait.
    pub timeout_seconds: u64,
}

/// What the arguments of a call mean.
#[derive(Debug)]
enum Meant {
    Change(Operation),
    Read(Reading),
    History(HistoryAsk),
    Wait(WaitAsk),
}

/// What a reading call wants to see of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reading {
    All,
    One(TaskId),
    Matching(Filter),
}

/// A tool call whose arguments were understood.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool.
    pub tool: &'static Tool,
    /// What it wants of the service.
    pub ask: Ask,
    /// The lease token that the caller shows.
    pub token: Option<Arc<str>>,
    /// The unknown arguments that were dropped, as paths like `tasks[0].priority`.
    pub warnings: Vec<String>,
    reading: Reading,
}

/// Reads a call's arguments as models send them.
///
/// # Errors
/// All that is wrong with them; see [`invalid`].
pub fn interpret(tool: &'static Tool, arguments: Option<&Json>) -> Result<Call, Invalid> {
    let takes_token = tool.input.properties.iter().any(|property| property.name == coordination::LEASE_TOKEN.name);
    let read = |fields: &mut Fields<'_>| {
        let token = takes_token.then(|| coordination::read_token(fields)).flatten();
        (tool.read)(fields).map(|meant| (meant, token))
    };
    let Read { value: (meant, token), warnings } = arguments::read(Manner::Lenient, arguments, read)?;
    let (ask, reading) = match meant {
        Meant::Change(operation) => (Ask::Change(operation), Reading::All),
        Meant::Read(reading) => (Ask::Read, reading),
        Meant::History(ask) => (Ask::History(ask), Reading::All),
        Meant::Wait(ask) => (Ask::Wait(ask), Reading::All),
    };
    Ok(Call { tool, ask, token, warnings, reading })
}

impl Call {
    /// Makes the call that asks for this, as if its arguments had said so.
    #[must_use]
    pub fn of(tool: &'static Tool, ask: Ask) -> Self {
        Self { tool, ask, token: None, warnings: Vec::new(), reading: Reading::All }
    }

    /// Answers a call that was done, with the list as it is now. For a call that only reads, the outcome is the default.
    #[must_use]
    pub fn answered(&self, list: &TaskList, outcome: &Outcome, changed: bool) -> ToolResult {
        match self.tool.toolset {
            Toolset::Mastra => mastra::answered(self, list, outcome, changed),
            Toolset::AgentScope => agentscope::answered(self, list, outcome, changed),
            Toolset::Coordination => coordination::answered(self, list, outcome, changed),
        }
    }

    /// Answers a call that asked for [`Ask::History`].
    #[must_use]
    pub fn told(&self, history: &History) -> ToolResult {
        coordination::told(self, history)
    }

    /// Answers a call that asked to [`Ask::Wait`]: with the list as it is now, and the changes since the revision that the
    /// caller had seen, as far as they are kept.
    #[must_use]
    pub fn waited(&self, list: &TaskList, has_changed: bool, changes: &[Change]) -> ToolResult {
        coordination::waited(self, list, has_changed, changes)
    }
}
