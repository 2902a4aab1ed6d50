//! Results of tools. Each tool has its own; what they share is described here.

use utoipa::ToSchema;

/// A tool's result. What else is in it depends on the tool; `GET /tools` has each tool's own schema.
#[derive(ToSchema)]
#[schema(example = json!({"content": "There are no tasks.", "isError": false}))]
#[expect(dead_code, reason = "it only describes; `toolset` writes the results")]
#[serde(rename_all = "camelCase")]
pub struct ToolResultOut {
    /// What happened, for an agent to read.
    content: String,
    /// Whether the call was refused.
    is_error: bool,
}

/// Tools in one format. Beyond the key `tools` each format has its own form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes; `toolset` writes the documents")]
pub struct ToolsOut {
    /// The tools.
    #[schema(value_type = Vec<Object>)]
    tools: Vec<()>,
}

/// Whose tools.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolsetIn {
    /// Everybody's.
    All,
    /// Mastra's.
    Mastra,
    /// `AgentScope`'s.
    AgentScope,
    /// Claims, history and waiting.
    Coordination,
}

/// In whose format.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FormatIn {
    /// The Model Context Protocol.
    Mcp,
    /// `OpenAI`'s chat completions.
    OpenAi,
    /// `OpenAI`'s responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// `OpenAI`'s chat completions in strict mode.
    #[serde(rename = "openai-strict")]
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
