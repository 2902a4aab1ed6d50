//! Bodies that come in: what the document says about them, and how they are read.
//!
//! They are not deserialised by serde, which would stop at the first fault and alter numbers, but read by the toolset's
//! reader in its strict manner: all faults at once, each with its place; nothing converted. The types here only describe;
//! a test holds the two together.

pub mod coordination;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::code::Code;
use super::problem::Problem;
use crate::domain::{Draft, Item, Json, Owner, Patch, Status};
use crate::toolset::arguments::{Fields, Manner, read};
use crate::wire::choice;

/// A whole list.
#[derive(ToSchema)]
#[schema(example = json!({"tasks": [
    {"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
    {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"}
]}))]
#[expect(dead_code, reason = "it only describes")]
#[serde(deny_unknown_fields)]
pub struct TaskWriteIn {
    /// All tasks, in their order: what is left out is removed.
    #[schema(inline)]
    tasks: Vec<ItemIn>,
}

/// One task of a whole list.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ItemIn {
    /// The id of a task that stays. A task without one keeps the id of the task with the same content, or gets a new one.
    #[schema(nullable = false, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")]
    id: Option<String>,
    /// What is to be done.
    #[schema(min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*$")]
    content: String,
    #[schema(schema_with = status_of_item)]
    status: Status,
    /// The same in the present continuous, shown while it is being done.
    #[schema(min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*$")]
    active_form: String,
}

/// What of a task changes; what is left out stays.
#[derive(ToSchema)]
#[schema(min_properties = 1, example = json!({"status": "in_progress", "owner": "researcher", "metadata": {"priority": 2}}))]
#[expect(dead_code, clippy::option_option, reason = "it only describes")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskUpdateIn {
    /// What is to be done.
    #[schema(nullable = false, min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*$")]
    content: Option<String>,
    #[schema(schema_with = status_of_update)]
    status: Option<Status>,
    /// The same in the present continuous.
    #[schema(nullable = false, min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*$")]
    active_form: Option<String>,
    /// Whatever else is to be known; empty clears it.
    #[schema(nullable = false, pattern = "^[^\\u0000]*$")]
    description: Option<String>,
    /// Who works on it; null releases it.
    #[schema(min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")]
    owner: Option<Option<String>>,
    /// Merged shallowly into what is there; null removes a key.
    #[schema(nullable = false, value_type = Option<Object>)]
    metadata: Option<()>,
    /// Tasks that this one blocks from now on.
    #[schema(nullable = false, inline, value_type = Option<Vec<IdIn>>)]
    add_blocks: Option<Vec<String>>,
    /// Tasks that block this one from now on.
    #[schema(nullable = false, inline, value_type = Option<Vec<IdIn>>)]
    add_blocked_by: Option<Vec<String>>,
    /// Tasks that this one blocks no longer.
    #[schema(nullable = false, inline, value_type = Option<Vec<IdIn>>)]
    remove_blocks: Option<Vec<String>>,
    /// Tasks that block this one no longer.
    #[schema(nullable = false, inline, value_type = Option<Vec<IdIn>>)]
    remove_blocked_by: Option<Vec<String>>,
}

/// A new task.
#[derive(ToSchema)]
#[schema(example = json!({"content": "Write the report", "description": "Two pages at most.", "metadata": {"priority": 2}}))]
#[expect(dead_code, clippy::option_option, reason = "it only describes")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskCreateIn {
    /// Its id; the list's next number if left out.
    #[schema(nullable = false, min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")]
    id: Option<String>,
    /// What is to be done.
    #[schema(min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*$")]
    content: String,
    #[schema(schema_with = status_of_draft)]
    status: Option<Status>,
    /// The same in the present continuous; follows the content if left out.
    #[schema(nullable = false, min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*$")]
    active_form: Option<String>,
    /// Whatever else is to be known.
    #[schema(nullable = false, pattern = "^[^\\u0000]*$")]
    description: Option<String>,
    /// Who works on it; null or left out: nobody.
    #[schema(min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")]
    owner: Option<Option<String>>,
    /// What you want to keep with it.
    #[schema(nullable = false, value_type = Option<Object>)]
    metadata: Option<()>,
    /// The tasks that it blocks.
    #[schema(nullable = false, inline, value_type = Option<Vec<IdIn>>)]
    blocks: Option<Vec<String>>,
    /// The tasks that block it.
    #[schema(nullable = false, inline, value_type = Option<Vec<IdIn>>)]
    blocked_by: Option<Vec<String>>,
}

/// The id of a task in a list of them. Described by hand, since a derived schema of a single value cannot be bounded.
struct IdIn;

impl PartialSchema for IdIn {
    fn schema() -> RefOr<Schema> {
        let id = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(256));
        id.pattern(Some(r"^[^\u0000-\u001f\u007f-\u009f]+$")).into()
    }
}

impl ToSchema for IdIn {}

// What describes a field by a function has the description from there, not from the comment.

fn status_of_item() -> Object {
    status("How far it is. At most one task of an owner may be in progress.")
}

fn status_of_update() -> Object {
    status("How far it is. `in_progress` puts the owner's other task in progress back to `pending`.")
}

fn status_of_draft() -> Object {
    status("How far it is; `pending` if left out.")
}

fn status(description: &str) -> Object {
    choice(description, Status::ALL.map(Status::as_str))
}

/// Fields of a task that only the service sets.
const READ_ONLY: [&str; 5] = ["createdAt", "updatedAt", "completedAt", "revision", "lease"];

/// Reads [`TaskWriteIn`].
///
/// # Errors
/// All that is wrong with the body.
pub fn task_write(body: &Json) -> Result<Vec<Item>, Problem> {
    strictly(body, |fields| {
        fields.require(&["tasks"]);
        fields.objects("tasks", |item| {
            item.require(&["content", "status", "activeForm"]);
            let id = item.id("id");
            let (content, status) = (item.content("content"), item.status("status"));
            let active_form = item.active_form("activeForm");
            item.read_only(&READ_ONLY);
            Some(Item { id, content: content?, status: status?, active_form: active_form? })
        })
    })
}

/// Reads [`TaskUpdateIn`].
///
/// # Errors
/// All that is wrong with the body.
pub fn task_update(body: &Json) -> Result<Patch, Problem> {
    strictly(body, |fields| {
        let patch = Patch {
            content: fields.content("content"),
            status: fields.status("status"),
            active_form: fields.active_form("activeForm"),
            description: fields.description("description"),
            owner: fields.nullable_text("owner", |text| Owner::parse(text)),
            metadata: fields.metadata("metadata"),
            add_blocks: fields.ids("addBlocks").unwrap_or_default(),
            add_blocked_by: fields.ids("addBlockedBy").unwrap_or_default(),
            remove_blocks: fields.ids("removeBlocks").unwrap_or_default(),
            remove_blocked_by: fields.ids("removeBlockedBy").unwrap_or_default(),
        };
        fields.read_only(&["id"]);
        fields.read_only(&READ_ONLY);
        if *body == Json::Object(Vec::new()) {
            fields.fault("must give at least one field");
        }
        Some(patch)
    })
}

/// Reads [`TaskCreateIn`].
///
/// # Errors
/// All that is wrong with the body.
pub fn task_create(body: &Json) -> Result<Draft, Problem> {
    strictly(body, |fields| {
        fields.require(&["content"]);
        let id = fields.id("id");
        let content = fields.content("content");
        let status = fields.status("status").unwrap_or(Status::Pending);
        let active_form = fields.active_form("activeForm");
        let description = fields.description("description").unwrap_or_default();
        let owner = fields.nullable_text("owner", |text| Owner::parse(text)).flatten();
        let metadata = fields.metadata("metadata").unwrap_or_default();
        let blocks = fields.ids("blocks").unwrap_or_default();
        let blocked_by = fields.ids("blockedBy").unwrap_or_default();
        fields.read_only(&READ_ONLY);
        Some(Draft { id, content: content?, status, active_form, description, owner, metadata, blocks, blocked_by })
    })
}

fn strictly<T>(body: &Json, fields: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, Problem> {
    read(Manner::Strict, Some(body), fields)
        .map(|read| read.value)
        .map_err(|invalid| Problem::invalid(Code::InvalidBody, invalid))
}
