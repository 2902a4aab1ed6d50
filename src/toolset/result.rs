//! What a tool answers, and the answers to calls that were not done.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Invalid, Tool, Toolset, agentscope, answer_text, coordination, mastra, refusal_text};
use crate::domain::{Refusal, TaskList};

/// Answers a call that the domain refused, with the list, which is as it was.
#[must_use]
pub fn refused(tool: &Tool, refusal: &Refusal, list: &TaskList, warnings: &[String]) -> ToolResult {
    let mut sentence = refusal_text::sentence(refusal);
    if !tool.hints.read_only {
        sentence.push_str(" Nothing was changed.");
    }
    not_done(tool, sentence, Some(refusal), Some(list), warnings)
}

/// Answers a call whose arguments cannot be used, with the list, which is as it was.
#[must_use]
pub fn invalid(tool: &Tool, invalid: &Invalid, list: &TaskList) -> ToolResult {
    let sentence = format!(
        "The arguments of {} cannot be used, nothing was changed: {} A right call: {}",
        tool.name,
        invalid.sentence(),
        tool.example
    );
    not_done(tool, sentence, None, Some(list), &invalid.warnings)
}

/// Answers a call that was not done for a reason outside of it, in the toolset's own form; without a list if none could
/// or may be read.
#[must_use]
pub fn failed(tool: &Tool, sentence: &str, list: Option<&TaskList>) -> ToolResult {
    not_done(tool, sentence.to_owned(), None, list, &[])
}

fn not_done(
    tool: &Tool,
    mut text: String,
    refusal: Option<&Refusal>,
    list: Option<&TaskList>,
    warnings: &[String],
) -> ToolResult {
    answer_text::push_warnings(&mut text, warnings);
    match tool.toolset {
        Toolset::Mastra => mastra::not_done(tool, text, list, warnings),
        Toolset::AgentScope => agentscope::not_done(text, warnings),
        Toolset::Coordination => coordination::not_done(text, refusal, list, warnings),
    }
}

/// What a tool answers. Serialised, it is its JSON object, in which `content` is the text.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// Whether the call was refused.
    pub is_error: bool,
    /// The text, which stands alone.
    pub text: String,
    /// The JSON object, which stands alone too.
    pub body: Box<RawValue>,
}

impl ToolResult {
    pub(super) fn new(is_error: bool, text: String, body: Box<RawValue>) -> Self {
        Self { is_error, text, body }
    }
}

pub(super) fn raw(body: &impl Serialize) -> Box<RawValue> {
    // Only a map with keys that are not texts can fail, and there is none.
    serde_json::value::to_raw_value(body).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}
