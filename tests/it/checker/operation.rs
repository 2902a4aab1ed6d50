//! What the clients ask for.

use serde_json::Value;

/// One task of a whole-list write. The workload always gives ids: how others are minted is no question of order.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) status: &'static str,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Patch {
    pub(crate) content: Option<String>,
    pub(crate) status: Option<&'static str>,
    pub(crate) description: Option<String>,
    pub(crate) owner: Option<Option<String>>,
    pub(crate) metadata: Option<(String, Value)>,
    pub(crate) add_blocks: Vec<String>,
    pub(crate) add_blocked_by: Vec<String>,
    pub(crate) remove_blocked_by: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Write(Vec<Item>),
    /// `has_focus`: the owner's other tasks in progress are put back.
    Update {
        id: String,
        patch: Patch,
        has_focus: bool,
    },
    Complete(String),
    Create {
        id: Option<String>,
        content: String,
        blocked_by: Vec<String>,
    },
    Delete(String),
    Clear,
    Claim {
        owner: String,
        id: Option<String>,
        lease_seconds: u32,
    },
    Release {
        id: String,
        is_forced: bool,
    },
    Heartbeat(String),
    Restore(i64),
    ReadList,
    ReadTask(String),
    ReadHistory {
        after: i64,
    },
}

pub(crate) fn active_form(content: &str) -> String {
    format!("Doing {content}")
}
