//! What one URL offers: its tools as they are listed, and what the server says about itself.

use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool as Listed};
use serde_json::{Map, Value, json};

use super::arguments::THREAD_ID;
use crate::domain::limits::ID_CHARS_MAX;
use crate::toolset::export::{Format, Selection, document};
use crate::toolset::{Tool, Toolset};

/// What one URL offers. It is made once and never changes.
#[derive(Debug)]
pub(super) struct Surface {
    selection: Selection,
    /// Whether a call says in its arguments which thread it means.
    pub(super) names_thread: bool,
    /// The tools, in the order of their names, as clients should find them.
    pub(super) tools: Vec<Listed>,
    /// What the server says about itself.
    pub(super) info: ServerConfig,
}

impl Surface {
    pub(super) fn new(selection: Selection, names_thread: bool) -> Self {
        let mut exported = document(selection, Format::Mcp);
        let mut tools = match exported.get_mut("tools").map(Value::take) {
            Some(Value::Array(tools)) => tools,
            _ => Vec::new(),
        };
        if names_thread {
            tools.iter_mut().for_each(add_thread);
        }
        // A tool that the library cannot read would be missing from what the tests compare.
        let mut tools: Vec<Listed> = tools.into_iter().filter_map(|tool| serde_json::from_value(tool).ok()).collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        Self { selection, names_thread, tools, info: info(names_thread) }
    }

    /// Returns the tool of this name, if it is offered here.
    pub(super) fn find(&self, name: &str) -> Option<&'static Tool> {
        self.selection.tools().find(|tool| tool.name == name)
    }

    /// Returns the tool that shows the list.
    pub(super) fn reader(&self) -> Option<&'static Tool> {
        let name = match self.selection {
            Selection::One(Toolset::AgentScope) => "TaskList",
            Selection::One(Toolset::Mastra | Toolset::Coordination) | Selection::All => "task_check",
        };
        crate::toolset::find(name)
    }
}

fn info(names_thread: bool) -> ServerConfig {
    let whose = if names_thread { "each thread; every call names its thread_id" } else { "this thread" };
    let instructions = format!(
        "Keeps the task list of {whose}. Other agents may change the same list: go by what the newest result shows. A \
         refused call has changed nothing and says how to do it right."
    );
    ServerConfig::new(
        ServerCapabilities::builder().enable_tools().enable_resources().enable_resources_subscribe().build(),
    )
    .with_server_info(Implementation::new("tasklane", env!("CARGO_PKG_VERSION")).with_title("Tasklane"))
    .with_instructions(instructions)
}

/// Lets a tool ask for the thread, before everything else.
fn add_thread(tool: &mut Value) {
    let property = json!({
        "type": "string",
        "minLength": 1,
        "maxLength": ID_CHARS_MAX,
        "description": "The thread whose task list is meant: one conversation or job of agents.",
    });
    if let Some(Value::Object(schema)) = tool.get_mut("inputSchema") {
        let mut properties = Map::new();
        properties.insert(THREAD_ID.to_owned(), property);
        if let Some(Value::Object(others)) = schema.get_mut("properties").map(Value::take) {
            properties.extend(others);
        }
        let mut required = vec![Value::from(THREAD_ID)];
        if let Some(Value::Array(others)) = schema.get_mut("required").map(Value::take) {
            required.extend(others);
        }
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), required.into());
    }
    if let Some(Value::String(description)) = tool.get_mut("description") {
        *description = with_thread(description);
    }
}

/// Lets the example in a description name a thread.
fn with_thread(description: &str) -> String {
    const EXAMPLE: &str = "Example: {";
    let Some((before, after)) = description.split_once(EXAMPLE) else { return description.to_owned() };
    let comma = if after.starts_with('}') { "" } else { ", " };
    format!("{before}{EXAMPLE}\"{THREAD_ID}\": \"thread-1\"{comma}{after}")
}
