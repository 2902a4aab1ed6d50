//! What was recorded from the originals holds through the protocol.

use serde_json::{Value, json};

use crate::support::conformance::{Recording, ToolEdge};
use crate::support::mcp::Mcp;

impl ToolEdge for Mcp {
    async fn call(&self, thread: &str, tool: &str, arguments: &str) -> Value {
        let result = Mcp::call(&self.at(&format!("/threads/{thread}/mcp?toolset=all")), tool, arguments).await;
        let structured = result["structuredContent"].clone();
        assert_eq!(result["content"], json!([{"type": "text", "text": structured["content"]}]));
        structured
    }

    async fn tasks(&self, thread: &str) -> Vec<Value> {
        let list = self.at(&format!("/threads/{thread}/tasks")).send("GET", "").await.message();
        list["tasks"].as_array().expect("tasks").clone()
    }
}

both_databases! {
    async fn every_recorded_mastra_case_holds(database: TestDatabase) {
        Recording::Mastra.replay(&Mcp::new(database.open().await)).await;
    }

    async fn every_recorded_agentscope_case_holds(database: TestDatabase) {
        Recording::AgentScope.replay(&Mcp::new(database.open().await)).await;
    }
}
