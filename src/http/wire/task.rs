//! A task.

use serde::Serialize;
use utoipa::ToSchema;

use super::{metadata, moment, moment_if_any};
use crate::domain::{Description, Metadata, Moment, Owner, Status, TaskId, TaskView};

/// One task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "task_write_the_report", "content": "Write the report", "status": "in_progress",
    "activeForm": "Writing the report", "description": "Two pages at most.", "owner": null,
    "metadata": {"priority": 2}, "blocks": [], "blockedBy": [], "createdAt": "2026-11-30T09:00:00.000000Z",
    "updatedAt": "2026-11-30T09:05:00.000000Z", "revision": 4
}))]
pub struct TaskOut<'a> {
    /// Unique within the list.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    pub id: &'a TaskId,
    /// What is to be done.
    #[schema(min_length = 1, max_length = 4000)]
    pub content: &'a str,
    /// How far it is.
    #[schema(inline)]
    pub status: StatusOut,
    /// The same in the present continuous; the content where it was never given.
    #[schema(min_length = 1, max_length = 4000)]
    pub active_form: &'a str,
    /// Whatever else is to be known; may be empty.
    #[schema(value_type = String)]
    pub description: &'a Description,
    /// Who works on it; null while nobody does.
    #[schema(value_type = Option<String>, required = true, min_length = 1, max_length = 256)]
    pub owner: Option<&'a Owner>,
    /// What the client keeps with it.
    #[schema(value_type = Object)]
    #[serde(serialize_with = "metadata")]
    pub metadata: &'a Metadata,
    /// Every task that has this one as a blocker, in list order.
    #[schema(value_type = Vec<String>)]
    pub blocks: &'a [TaskId],
    /// The blockers that are not completed, in list order.
    #[schema(value_type = Vec<String>)]
    pub blocked_by: &'a [TaskId],
    /// When it came into the list.
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Moment,
    /// When its representation last changed.
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Moment,
    /// When it was completed; absent unless it is.
    #[serde(serialize_with = "moment_if_any", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub completed_at: Option<Moment>,
    /// The list's revision when its representation last changed.
    #[schema(minimum = 1)]
    pub revision: i64,
    /// The claim on it; absent unless there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, inline)]
    pub lease: Option<LeaseOut<'a>>,
}

/// A claim on a task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseOut<'a> {
    /// Who holds it.
    #[schema(value_type = String)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<&'a Owner>,
}

impl<'a> TaskOut<'a> {
    /// Shows a task.
    #[must_use]
    pub fn of(view: &'a TaskView) -> Self {
        let task = &view.task;
        Self {
            id: &task.id,
            content: task.content.as_str(),
            status: task.status.into(),
            active_form: task.active_form(),
            description: &task.description,
            owner: task.owner.as_ref(),
            metadata: &task.metadata,
            blocks: &view.blocks,
            blocked_by: &view.blocked_by,
            created_at: task.created_at,
            updated_at: task.updated_at,
            completed_at: task.completed_at,
            revision: task.revision.get(),
            lease: task.lease.as_ref().map(|_| LeaseOut { owner: task.owner.as_ref() }),
        }
    }
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusOut {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl From<Status> for StatusOut {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
        }
    }
}
