//! `AgentScope`'s task tools: tasks are created, read, listed and updated one by one, and may depend on each other.
//!
//! In this dialect much that is given means *not given*: null, an empty subject or active form, empty metadata and empty
//! lists. An empty description clears, and an empty owner releases.

mod answer;

use super::arguments::Fields;
use super::coordination::LEASE_TOKEN;
use super::schema::{Kind, Object, Property};
use super::{Hints, Meant, Reading, Tool, Toolset};
use crate::domain::limits::{CONTENT_CHARS_MAX, ID_CHARS_MAX, OWNER_CHARS_MAX};
use crate::domain::{ActiveForm, Content, Draft, Filter, Focus, Operation, Owner, Patch, Status, TaskId, TextFault};

pub(super) use answer::{answered, not_done};

const STATUSES: &[&str] = &["pending", "in_progress", "completed"];
const STATUSES_AND_DELETED: &[&str] = &["pending", "in_progress", "completed", "deleted"];
const ID: Kind = Kind::Text { chars_min: 1, chars_max: Some(ID_CHARS_MAX) };
const TASK_ID: Property = Property::required("task_id", ID, "The task's id, as TaskCreate and TaskList show it.");

pub(super) static TOOLS: [Tool; 4] = [
    Tool {
        name: "TaskCreate",
        toolset: Toolset::AgentScope,
        title: "Create a task",
        purpose: "Adds one task, pending and without an owner, at the end of the task list. Use it to plan work of three \
                  or more steps, and for what turns up on the way; not for a single simple step. Give a short subject in \
                  the imperative and a description from which another agent could do the task. See TaskList first, so \
                  that no task is made twice; use TaskUpdate afterwards to say what it depends on. The result names the \
                  new task's id.",
        example: r#"{"subject": "Fix the login bug", "description": "Users with a + in their address cannot log in. Done when the test passes.", "activeForm": "Fixing the login bug"}"#,
        hints: Hints { read_only: false, destructive: false, idempotent: false },
        input: Object {
            properties: &[
                Property::required(
                    "subject",
                    Kind::Text { chars_min: 1, chars_max: Some(CONTENT_CHARS_MAX) },
                    "What is to be done, short and in the imperative.",
                ),
                Property::required(
                    "description",
                    Kind::Text { chars_min: 0, chars_max: None },
                    "What else is to be known, and when the task is done.",
                ),
                Property::optional("metadata", Kind::Open, "Anything to keep with the task: an object of your own."),
                Property::optional(
                    "activeForm",
                    Kind::Text { chars_min: 0, chars_max: Some(CONTENT_CHARS_MAX) },
                    "The subject in the present continuous, such as Fixing the login bug.",
                ),
            ],
        },
        output: Object { properties: &CREATED },
        read: read_create,
    },
    Tool {
        name: "TaskGet",
        toolset: Toolset::AgentScope,
        title: "Read a task",
        purpose: "Shows one task with its description, metadata and dependencies. Use it before you begin a task, since \
                  TaskList leaves the description out of its text, and to see what a task waits for.",
        example: r#"{"task_id": "1"}"#,
        hints: Hints::READS,
        input: Object { properties: &[TASK_ID] },
        output: Object { properties: &GOT },
        read: read_get,
    },
    Tool {
        name: "TaskList",
        toolset: Toolset::AgentScope,
        title: "List the tasks",
        purpose: "Lists the tasks in their order, with status, owner and what each waits for. Use it to see what is left, \
                  to find the next task (ready: true gives the pending tasks without owner that wait for nothing; take \
                  the first), and after completing one to see what it has freed. Without arguments it lists all.",
        example: r#"{"ready": true}"#,
        hints: Hints::READS,
        input: Object {
            properties: &[
                Property::optional("status", Kind::Choice(STATUSES), "Only tasks with this status."),
                Property::optional(
                    "owner",
                    Kind::Text { chars_min: 0, chars_max: Some(OWNER_CHARS_MAX) },
                    "Only tasks of this owner; an empty text means tasks without owner.",
                ),
                Property::optional(
                    "ready",
                    Kind::Boolean,
                    "True: only tasks that can be begun now; false: the others.",
                ),
            ],
        },
        output: Object { properties: &LISTED },
        read: read_list,
    },
    Tool {
        name: "TaskUpdate",
        toolset: Toolset::AgentScope,
        title: "Update a task",
        purpose: "Changes one task: what is given changes, what is left out stays. Set status in_progress when you begin \
                  and completed only when the task is really done; deleted removes the task for good. Set owner to take \
                  a task, an empty owner releases it. Dependencies are added and removed by id and may not go round in a \
                  circle; a task with open blockers should wait for them. metadata is merged, a null in it removes that \
                  key. Read the task with TaskGet first if others work on the list too.",
        example: r#"{"task_id": "2", "status": "in_progress", "owner": "agent-1", "add_blocked_by": ["1"]}"#,
        hints: Hints { read_only: false, destructive: true, idempotent: true },
        input: Object { properties: &UPDATE },
        output: Object { properties: &UPDATED },
        read: read_update,
    },
];

static UPDATE: [Property; 12] = [
    TASK_ID,
    Property::optional(
        "subject",
        Kind::Text { chars_min: 0, chars_max: Some(CONTENT_CHARS_MAX) },
        "A new subject; an empty one is ignored.",
    ),
    Property::optional(
        "description",
        Kind::Text { chars_min: 0, chars_max: None },
        "A new description; an empty one clears it.",
    ),
    Property::optional(
        "activeForm",
        Kind::Text { chars_min: 0, chars_max: Some(CONTENT_CHARS_MAX) },
        "A new active form; an empty one is ignored.",
    ),
    Property::optional("status", Kind::Choice(STATUSES_AND_DELETED), "A new status; deleted removes the task."),
    Property::optional(
        "owner",
        Kind::Text { chars_min: 0, chars_max: Some(OWNER_CHARS_MAX) },
        "Who works on the task; an empty owner releases it.",
    ),
    Property::optional("metadata", Kind::Open, "Keys to set in the task's metadata; null removes a key."),
    Property::optional("add_blocks", Kind::Texts, "Ids of tasks that wait for this one from now on."),
    Property::optional("add_blocked_by", Kind::Texts, "Ids of tasks that this one waits for from now on."),
    Property::optional("remove_blocks", Kind::Texts, "Ids of tasks that need not wait for this one any more."),
    Property::optional("remove_blocked_by", Kind::Texts, "Ids of tasks that this one need not wait for any more."),
    LEASE_TOKEN,
];

const ANY: Kind = Kind::Text { chars_min: 0, chars_max: None };

static TASK: Object = Object {
    properties: &[
        Property::required("id", ANY, "The id."),
        Property::required("subject", ANY, "What is to be done."),
        Property::required("description", ANY, "What else is to be known."),
        Property::required("state", Kind::Choice(STATUSES), "How far the task is."),
        Property::required("owner", Kind::TextOrNull, "Who works on it, a text; null if nobody does."),
        Property::required("metadata", Kind::Open, "What is kept with it."),
        Property::required("blocks", Kind::Texts, "Ids of tasks that wait for this one."),
        Property::required(
            "blocked_by",
            Kind::Texts,
            "Ids of tasks that this one waits for and that are not completed.",
        ),
        Property::required("created_at", ANY, "When it was created, RFC 3339."),
    ],
};

const CONTENT: Property =
    Property::required("content", Kind::Text { chars_min: 1, chars_max: None }, "What happened, in words.");
const IS_ERROR: Property = Property::required("isError", Kind::Boolean, "Whether the call was refused.");
const WARNINGS: Property = Property::optional("warnings", Kind::Texts, "Unknown arguments that were ignored.");

static CREATED: [Property; 4] =
    [CONTENT, IS_ERROR, Property::optional("task", Kind::Object(&TASK), "The new task."), WARNINGS];
static GOT: [Property; 4] = [CONTENT, IS_ERROR, Property::optional("task", Kind::Object(&TASK), "The task."), WARNINGS];
static LISTED: [Property; 4] =
    [CONTENT, IS_ERROR, Property::optional("tasks", Kind::Objects(&TASK), "The tasks, in list order."), WARNINGS];
static UPDATED: [Property; 7] = [
    CONTENT,
    IS_ERROR,
    Property::optional("task", Kind::Object(&TASK), "The task as it is now; absent if it was deleted."),
    Property::optional("updatedFields", Kind::Texts, "The arguments that took effect."),
    Property::optional("unblocked", Kind::Texts, "Ids of tasks that do not wait for anything any more."),
    Property::optional("openBlockers", Kind::Texts, "Ids of tasks that should have been completed before this one."),
    WARNINGS,
];

fn read_create(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["subject", "description"]);
    let content = fields.content("subject");
    let description = fields.description("description");
    let metadata = fields.metadata("metadata").unwrap_or_default();
    let active_form = fields.text("activeForm", unless_empty(|text| ActiveForm::parse(text))).flatten();
    let draft = Draft {
        id: None,
        content: content?,
        status: Status::Pending,
        active_form,
        description: description?,
        owner: None,
        metadata,
        blocks: Vec::new(),
        blocked_by: Vec::new(),
    };
    Some(Meant::Change(Operation::Create { draft, focus: Focus::Many }))
}

fn read_get(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["task_id"]);
    fields.id("task_id").map(|id| Meant::Read(Reading::One(id)))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the readers of a tool's arguments")]
fn read_list(fields: &mut Fields<'_>) -> Option<Meant> {
    Some(Meant::Read(Reading::Matching(Filter {
        status: fields.status("status"),
        owner: fields.text("owner", unless_empty(|text| Owner::parse(text))),
        ready: fields.boolean("ready"),
    })))
}

/// What the argument `status` of an update may say.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Status(Status),
    Deleted,
}

fn read_update(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["task_id"]);
    let id: Option<TaskId> = fields.id("task_id");
    let mut patch = Patch {
        content: fields.text("subject", unless_empty(|text| Content::parse(text))).flatten(),
        description: fields.description("description"),
        active_form: fields.text("activeForm", unless_empty(|text| ActiveForm::parse(text))).flatten(),
        add_blocks: fields.ids("add_blocks").unwrap_or_default(),
        add_blocked_by: fields.ids("add_blocked_by").unwrap_or_default(),
        remove_blocks: fields.ids("remove_blocks").unwrap_or_default(),
        remove_blocked_by: fields.ids("remove_blocked_by").unwrap_or_default(),
        status: None,
        owner: fields.text("owner", unless_empty(|text| Owner::parse(text))),
        metadata: fields.metadata("metadata").filter(|metadata| !metadata.is_empty()),
    };
    let choices = [
        ("pending", Wanted::Status(Status::Pending)),
        ("in_progress", Wanted::Status(Status::InProgress)),
        ("completed", Wanted::Status(Status::Completed)),
        ("deleted", Wanted::Deleted),
    ];
    let wanted = fields.choice("status", &choices);
    let id = id?;
    Some(Meant::Change(match wanted {
        Some(Wanted::Deleted) => Operation::Delete(id),
        Some(Wanted::Status(status)) => {
            patch.status = Some(status);
            Operation::Update { id, patch, focus: Focus::Many }
        }
        None => Operation::Update { id, patch, focus: Focus::Many },
    }))
}

/// Makes a reader of texts of which an empty one has a meaning of its own.
fn unless_empty<T>(parse: impl Fn(&str) -> Result<T, TextFault>) -> impl Fn(&str) -> Result<Option<T>, TextFault> {
    move |text| if text.is_empty() { Ok(None) } else { parse(text).map(Some) }
}
