//! The tools in the forms in which vendors' interfaces take them.
//!
//! Every document is an object with the one key `tools`: it can be merged into a request as it is (for Bedrock it is the
//! request's `toolConfig`, for MCP the result of `tools/list`).

use serde_json::{Map, Value, json};

use super::schema::Style;
use super::{Tool, Toolset, of};

/// Which tools are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Those of one toolset.
    One(Toolset),
    /// All of them.
    All,
}

impl Selection {
    /// Returns the selection of exactly this name: a toolset's, or `all`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if name == "all" { Some(Self::All) } else { Toolset::parse(name).map(Self::One) }
    }

    /// Returns the tools, in the order in which they are shown.
    pub fn tools(self) -> impl Iterator<Item = &'static Tool> {
        Toolset::ALL.into_iter().filter(move |toolset| self == Self::All || self == Self::One(*toolset)).flat_map(of)
    }
}

/// For whom the tools are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The Model Context Protocol.
    Mcp,
    /// `OpenAI`'s chat completions.
    OpenAi,
    /// `OpenAI`'s responses.
    OpenAiResponses,
    /// `OpenAI`'s chat completions in strict mode.
    OpenAiStrict,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Bedrock's Converse.
    Bedrock,
    /// Vercel's AI SDK.
    Vercel,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 8] = [
        Self::Mcp,
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::OpenAiStrict,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Vercel,
    ];

    /// Returns the format of exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiStrict => "openai-strict",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Vercel => "vercel",
        }
    }
}

/// Returns the document of the selected tools.
#[must_use]
pub fn document(selection: Selection, format: Format) -> Value {
    let tools: Vec<Value> = selection.tools().map(|tool| exported(tool, format)).collect();
    let tools = match format {
        // Gemini groups its functions; a group without any is refused.
        Format::Gemini if !tools.is_empty() => json!([{"functionDeclarations": tools}]),
        Format::Gemini
        | Format::Mcp
        | Format::OpenAi
        | Format::OpenAiResponses
        | Format::OpenAiStrict
        | Format::Anthropic
        | Format::Bedrock
        | Format::Vercel => tools.into(),
    };
    json!({ "tools": tools })
}

fn exported(tool: &Tool, format: Format) -> Value {
    let (name, description) = (tool.name, tool.description());
    let input = tool.input.render(Style::Portable);
    match format {
        Format::Mcp => json!({
            "name": name,
            "title": tool.title,
            "description": description,
            "inputSchema": input,
            "outputSchema": tool.output.render(Style::Portable),
            "annotations": {
                "title": tool.title,
                "readOnlyHint": tool.hints.read_only,
                "destructiveHint": tool.hints.destructive,
                "idempotentHint": tool.hints.idempotent,
                "openWorldHint": false,
            },
        }),
        Format::OpenAi => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": input, "strict": false},
        }),
        Format::OpenAiResponses => {
            json!({"type": "function", "name": name, "description": description, "parameters": input, "strict": false})
        }
        Format::OpenAiStrict => json!({
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": tool.input.render(Style::Strict),
                "strict": true,
            },
        }),
        Format::Anthropic => json!({"name": name, "description": description, "input_schema": input}),
        Format::Gemini => gemini(tool, description),
        Format::Bedrock => {
            json!({"toolSpec": {"name": name, "description": description, "inputSchema": {"json": input}}})
        }
        Format::Vercel => json!({"type": "function", "name": name, "description": description, "inputSchema": input}),
    }
}

/// A function without parameters has none at all here: an object without properties is refused.
fn gemini(tool: &Tool, description: String) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), tool.name.into());
    function.insert("description".to_owned(), description.into());
    if !tool.input.properties.is_empty() {
        function.insert("parameters".to_owned(), tool.input.render(Style::Gemini));
    }
    Value::Object(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it tells this test to write, it is no setting of the service")]
    fn every_export_is_the_one_that_was_reviewed() {
        for format in Format::ALL {
            let file = format!("tests/golden/tools/{}.json", format.as_str());
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&file);
            let now = serde_json::to_string_pretty(&document(Selection::All, format)).unwrap() + "\n";
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, &now).unwrap();
            }
            let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                reviewed == now,
                "{file} is not what is exported now. If the change is meant, run\n  \
                 UPDATE_GOLDEN=1 cargo test --lib toolset::export\nand review the difference with git diff."
            );
        }
    }

    #[test]
    fn all_is_every_toolset_one_after_the_other() {
        let names = |name: &str| Selection::parse(name).unwrap().tools().map(|tool| tool.name).collect::<Vec<_>>();
        assert_eq!([names("mastra"), names("agentscope"), names("coordination")].concat(), names("all"));
        assert_eq!(names("mastra"), ["task_write", "task_update", "task_complete", "task_check"]);
        assert_eq!(Selection::parse("Mastra"), None);
        for format in Format::ALL {
            assert_eq!(Format::parse(format.as_str()), Some(format));
        }
    }

    /// Walks every schema within a value.
    fn walk(value: &Value, check: &impl Fn(&Map<String, Value>)) {
        match value {
            Value::Object(members) => {
                check(members);
                members.values().for_each(|member| walk(member, check));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, check)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn no_export_has_what_its_reader_refuses() {
        for format in Format::ALL {
            walk(&document(Selection::All, format), &|members| {
                for never in ["$ref", "$defs", "oneOf", "anyOf", "allOf", "format", "default", "const"] {
                    assert!(!members.contains_key(never), "{} has {never}", format.as_str());
                }
                let is_object = members.get("type").is_some_and(|kind| kind == "object");
                match format {
                    Format::OpenAiStrict if is_object => {
                        assert_eq!(members["additionalProperties"], false);
                        let properties: Vec<&String> = members["properties"].as_object().unwrap().keys().collect();
                        assert_eq!(json!(properties), members["required"]);
                    }
                    Format::Gemini => assert!(!members.contains_key("additionalProperties")),
                    _ => {}
                }
                if format != Format::OpenAiStrict {
                    assert!(!members.get("type").is_some_and(Value::is_array), "{}", format.as_str());
                }
            });
        }
    }
}
