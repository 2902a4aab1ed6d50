//! Threads.

use serde::Serialize;
use utoipa::ToSchema;

use super::list::SummaryOut;
use super::moment_if_any;
use crate::domain::{Moment, TaskList, ThreadId};
use crate::store::ThreadEntry;

/// One thread.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "threadId": "thread-1", "revision": 4,
    "summary": {
        "total": 3, "completed": 1, "inProgress": 1, "pending": 1, "incomplete": 2, "hasTasks": true, "allCompleted": false
    },
    "createdAt": "2026-11-30T09:00:00.000000Z", "updatedAt": "2026-11-30T09:05:00.000000Z"
}))]
pub struct ThreadOut<'a> {
    /// Its id.
    #[schema(value_type = String)]
    pub thread_id: &'a ThreadId,
    /// The revision of its list.
    #[schema(minimum = 1)]
    pub revision: i64,
    /// Counts of its list.
    pub summary: SummaryOut,
    /// When its list was first written; in listings only.
    #[serde(serialize_with = "moment_if_any", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub created_at: Option<Moment>,
    /// When its list last changed; in listings only.
    #[serde(serialize_with = "moment_if_any", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub updated_at: Option<Moment>,
}

impl<'a> ThreadOut<'a> {
    /// Shows a thread of a listing.
    #[must_use]
    pub fn of(entry: &'a ThreadEntry) -> Self {
        Self {
            thread_id: &entry.thread,
            revision: entry.revision.get(),
            summary: entry.counts.into(),
            created_at: Some(entry.created_at),
            updated_at: Some(entry.updated_at),
        }
    }

    /// Shows the thread of a list.
    #[must_use]
    pub fn of_list(thread: &'a ThreadId, list: &TaskList) -> Self {
        Self {
            thread_id: thread,
            revision: list.revision().get(),
            summary: list.counts().into(),
            created_at: None,
            updated_at: None,
        }
    }
}

/// Threads, newest activity first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadsOut<'a> {
    /// The threads.
    pub threads: Vec<ThreadOut<'a>>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_cursor: Option<String>,
}
