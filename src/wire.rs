//! A task and a change as JSON, in the one shape that REST, histories, streams and the coordination tools share: camel case,
//! times in UTC with microseconds, absent what does not apply.

use chrono::SecondsFormat;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use crate::domain::{Change, Description, Metadata, Moment, Op, Owner, Status, Summary, TaskId, TaskView};

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
    #[schema(schema_with = status)]
    pub status: Status,
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
    #[schema(nullable = false)]
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
            status: task.status,
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

/// Describes a status in place: the derived schema of an enum with a description is a union, which importers do not take.
#[must_use]
pub fn status() -> Object {
    choice("How far a task is.", Status::ALL.map(Status::as_str))
}

/// Describes one of a few texts.
#[must_use]
pub fn choice(description: &str, names: impl IntoIterator<Item = &'static str>) -> Object {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description)).enum_values(Some(names)).build()
}

/// One change of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeOut<'a> {
    /// The revision that it made.
    #[schema(minimum = 1)]
    pub revision: i64,
    /// What was asked for.
    #[schema(example = "task_update")]
    pub operation: &'a str,
    /// Who asked.
    #[schema(example = "anonymous")]
    pub actor: &'a str,
    /// When.
    #[serde(serialize_with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Moment,
    /// What it did, for people.
    #[schema(example = "1 updated")]
    pub summary: String,
    /// What it did, step by step.
    pub ops: Vec<OpOut<'a>>,
}

/// One step of a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum OpOut<'a> {
    /// A task came, at the end of the list.
    Add {
        /// The task.
        task: TaskOut<'a>,
    },
    /// A task reads differently.
    Update {
        /// The task as it was; in histories only.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        before: Option<TaskOut<'a>>,
        /// The task as it is.
        task: TaskOut<'a>,
    },
    /// A task went.
    Remove {
        /// Its id.
        #[schema(value_type = String)]
        id: &'a TaskId,
        /// The task as it was; in histories only.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        before: Option<TaskOut<'a>>,
    },
    /// The tasks stand in another order than the steps above give.
    Order {
        /// All ids in their order.
        #[schema(value_type = Vec<String>)]
        ids: &'a [TaskId],
    },
}

/// How much of a change is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a reader who has the list before needs: the tasks after it.
    After,
    /// The tasks before it as well.
    BeforeAndAfter,
}

impl<'a> ChangeOut<'a> {
    /// Shows a change.
    #[must_use]
    pub fn of(change: &'a Change, detail: Detail) -> Self {
        Self {
            revision: change.revision.get(),
            operation: &change.operation,
            actor: change.actor.as_str(),
            at: change.at,
            summary: Summary::of(&change.ops).to_string(),
            ops: change.ops.iter().map(|op| OpOut::of(op, detail)).collect(),
        }
    }
}

impl<'a> OpOut<'a> {
    fn of(op: &'a Op, detail: Detail) -> Self {
        let shown = |view: &'a TaskView| (detail == Detail::BeforeAndAfter).then(|| TaskOut::of(view));
        match op {
            Op::Add(view) => Self::Add { task: TaskOut::of(view) },
            Op::Update { before, after } => Self::Update { before: shown(before), task: TaskOut::of(after) },
            Op::Remove { before, .. } => Self::Remove { id: &before.task.id, before: shown(before) },
            Op::Order { after, .. } => Self::Order { ids: after },
        }
    }
}

/// Writes a moment in RFC 3339, UTC, with microseconds.
///
/// # Errors
/// The serializer's.
pub fn moment<S: Serializer>(at: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Micros, true))
}

/// Writes a moment that may be absent.
///
/// # Errors
/// The serializer's.
pub fn moment_if_any<S: Serializer>(at: &Option<Moment>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => moment(at, serializer),
        None => serializer.serialize_none(),
    }
}

/// Writes the members from where they are; the domain's own way copies them first.
fn metadata<S: Serializer>(metadata: &Metadata, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(metadata.members().len()))?;
    for (key, value) in metadata.members() {
        map.serialize_entry(key, value)?;
    }
    map.end()
}
