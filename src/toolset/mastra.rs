//! Mastra's task tools: the whole list is written, single tasks are updated, completed and checked.

use serde::Serialize;

use super::arguments::Fields;
use super::coordination::LEASE_TOKEN;
use super::schema::{Kind, Object, Property};
use super::{Ask, Call, Hints, Meant, Reading, Tool, ToolResult, Toolset, list_text, raw};
use crate::domain::limits::{CONTENT_CHARS_MAX, ID_CHARS_MAX};
use crate::domain::{Counts, Focus, Item, Operation, Outcome, Patch, Status, Task, TaskList};

const STATUSES: &[&str] = &["pending", "in_progress", "completed"];
const ID: Kind = Kind::Text { chars_min: 1, chars_max: Some(ID_CHARS_MAX) };
const LINE: Kind = Kind::Text { chars_min: 1, chars_max: Some(CONTENT_CHARS_MAX) };

pub(super) static TOOLS: [Tool; 4] = [
    Tool {
        name: "task_write",
        toolset: Toolset::Mastra,
        title: "Write the task list",
        purpose: "Makes the task list, or replaces it as a whole. Use it at the start of work that takes three or more \
                  steps, when the user names several things to do, and when the plan changes; not for a single simple \
                  step, and not to change one task (task_update, task_complete). Give every task that is to stay, with \
                  the id that earlier results show: a task that is left out is removed. Have one task in_progress at a \
                  time; a list with more is refused. An empty array clears the list. The result shows the tasks with \
                  their ids.",
        example: r#"{"tasks": [{"id": "task_read_the_code", "content": "Read the code", "status": "completed", "activeForm": "Reading the code"}, {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"}]}"#,
        hints: Hints { read_only: false, destructive: true, idempotent: true },
        input: Object {
            properties: &[Property::required("tasks", Kind::Objects(&ITEM), "The whole list, in its order.")],
        },
        output: Object { properties: &CHANGED },
        read: read_write,
    },
    Tool {
        name: "task_update",
        toolset: Toolset::Mastra,
        title: "Update a task",
        purpose: "Changes one task of the list: its content, status or activeForm, at least one of them. Use it when you \
                  begin a task, put it back, or word it anew; use task_complete when it is done, and task_write to add \
                  or remove tasks. Setting in_progress puts another task that was in progress back to pending.",
        example: r#"{"id": "task_fix_the_bug", "status": "in_progress"}"#,
        hints: Hints { read_only: false, destructive: false, idempotent: true },
        input: Object {
            properties: &[
                Property::required("id", ID, "The task's id, as results show it."),
                Property::optional("content", LINE, "What is to be done, in the imperative."),
                Property::optional("status", Kind::Choice(STATUSES), "How far the task is."),
                Property::optional("activeForm", LINE, "The same in the present continuous, such as Fixing the bug."),
                LEASE_TOKEN,
            ],
        },
        output: Object { properties: &CHANGED },
        read: read_update,
    },
    Tool {
        name: "task_complete",
        toolset: Toolset::Mastra,
        title: "Complete a task",
        purpose: "Marks one task as completed. Use it as soon as the task is really done, before you begin the next; not \
                  while tests fail or part of the work is missing. Completing a task twice does no harm.",
        example: r#"{"id": "task_fix_the_bug"}"#,
        hints: Hints { read_only: false, destructive: false, idempotent: true },
        input: Object {
            properties: &[Property::required("id", ID, "The task's id, as results show it."), LEASE_TOKEN],
        },
        output: Object { properties: &CHANGED },
        read: read_complete,
    },
    Tool {
        name: "task_check",
        toolset: Toolset::Mastra,
        title: "Check the task list",
        purpose: "Shows the task list, how many tasks are completed, and which are not. Use it before you say that the \
                  work is finished, and when you have lost track; there is no need to after a write or an update, whose \
                  result shows the list too. It takes no arguments.",
        example: "{}",
        hints: Hints::READS,
        input: Object { properties: &[] },
        output: Object { properties: &CHECKED },
        read: read_check,
    },
];

static ITEM: Object = Object {
    properties: &[
        Property::optional("id", ID, "The id of a task that stays, as results show it; leave it out for a new task."),
        Property::required("content", LINE, "What is to be done, in the imperative, such as Fix the bug."),
        Property::required("status", Kind::Choice(STATUSES), "How far the task is."),
        Property::required("activeForm", LINE, "The same in the present continuous, such as Fixing the bug."),
    ],
};

static TASK: Object = Object {
    properties: &[
        Property::required("id", Kind::Text { chars_min: 1, chars_max: None }, "The id."),
        Property::required("content", Kind::Text { chars_min: 1, chars_max: None }, "What is to be done."),
        Property::required("status", Kind::Choice(STATUSES), "How far the task is."),
        Property::required(
            "activeForm",
            Kind::Text { chars_min: 1, chars_max: None },
            "The same while it is being done.",
        ),
    ],
};

const CONTENT: Property =
    Property::required("content", Kind::Text { chars_min: 1, chars_max: None }, "What happened and how the list is.");
const TASKS: Property = Property::required("tasks", Kind::Objects(&TASK), "The list as it is now, in its order.");
const IS_ERROR: Property = Property::required("isError", Kind::Boolean, "Whether the call was refused.");
const WARNINGS: Property = Property::optional("warnings", Kind::Texts, "Unknown arguments that were ignored.");

static CHANGED: [Property; 4] = [CONTENT, TASKS, IS_ERROR, WARNINGS];
static CHECKED: [Property; 6] = [
    CONTENT,
    TASKS,
    Property::required("summary", Kind::Object(&SUMMARY), "How far the list is."),
    Property::required("incompleteTasks", Kind::Objects(&TASK), "Tasks in progress, then pending ones."),
    IS_ERROR,
    WARNINGS,
];

const COUNT: Kind = Kind::Integer { least: 0, most: i32::MAX as i64 };
static SUMMARY: Object = Object {
    properties: &[
        Property::required("total", COUNT, "All tasks."),
        Property::required("completed", COUNT, "Tasks that are completed."),
        Property::required("inProgress", COUNT, "Tasks in progress."),
        Property::required("pending", COUNT, "Tasks not begun."),
        Property::required("incomplete", COUNT, "Tasks that are not completed."),
        Property::required("hasTasks", Kind::Boolean, "Whether there are tasks."),
        Property::required("allCompleted", Kind::Boolean, "Whether there are tasks and all are completed."),
    ],
};

fn read_write(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["tasks"]);
    fields.objects("tasks", read_item).map(|items| Meant::Change(Operation::Write(items)))
}

/// Reads one task of a whole-list write, in either manner.
fn read_item(fields: &mut Fields<'_>) -> Option<Item> {
    fields.require(&["content", "status", "activeForm"]);
    let id = fields.id("id");
    let (content, status, active_form) =
        (fields.content("content"), fields.status("status"), fields.active_form("activeForm"));
    Some(Item { id, content: content?, status: status?, active_form: active_form? })
}

fn read_update(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["id"]);
    let id = fields.id("id");
    let patch = Patch {
        content: fields.content("content"),
        status: fields.status("status"),
        active_form: fields.active_form("activeForm"),
        ..Patch::default()
    };
    if patch.is_empty() && fields.is_faultless() {
        fields.fault("must give at least one of content, status, activeForm");
    }
    Some(Meant::Change(Operation::Update { id: id?, patch, focus: Focus::One }))
}

fn read_complete(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["id"]);
    fields.id("id").map(|id| Meant::Change(Operation::Complete(id)))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the readers of a tool's arguments")]
fn read_check(_: &mut Fields<'_>) -> Option<Meant> {
    Some(Meant::Read(Reading::All))
}

pub(super) fn answered(call: &Call, list: &TaskList, outcome: &Outcome, changed: bool) -> ToolResult {
    let operation = match &call.ask {
        Ask::Read | Ask::History(_) | Ask::Wait(_) => None,
        Ask::Change(operation) => Some(operation),
    };
    let text = list_text(operation, list, outcome, changed, &call.warnings);
    result(call.tool, false, text, Some(list), &call.warnings)
}

pub(super) fn not_done(tool: &Tool, text: String, list: Option<&TaskList>, warnings: &[String]) -> ToolResult {
    result(tool, true, text, list, warnings)
}

fn result(tool: &Tool, is_error: bool, text: String, list: Option<&TaskList>, warnings: &[String]) -> ToolResult {
    let tasks: Vec<TaskOut<'_>> =
        list.map(|list| list.tasks().iter().map(|task| TaskOut::of(task)).collect()).unwrap_or_default();
    let counts = list.map(TaskList::counts).unwrap_or_default();
    let (summary, incomplete_tasks) =
        if tool.hints.read_only { (Some(SummaryOut::of(counts)), Some(incomplete(&tasks))) } else { (None, None) };
    let body = raw(&ResultOut { content: &text, tasks, summary, incomplete_tasks, is_error, warnings });
    ToolResult::new(is_error, text, body)
}

/// The tasks that are not completed: those in progress first.
fn incomplete<'a>(tasks: &[TaskOut<'a>]) -> Vec<TaskOut<'a>> {
    let with = |status: Status| tasks.iter().filter(move |task| task.status == status).copied();
    with(Status::InProgress).chain(with(Status::Pending)).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultOut<'a> {
    content: &'a str,
    tasks: Vec<TaskOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete_tasks: Option<Vec<TaskOut<'a>>>,
    is_error: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskOut<'a> {
    id: &'a str,
    content: &'a str,
    status: Status,
    active_form: &'a str,
}

impl<'a> TaskOut<'a> {
    fn of(task: &'a Task) -> Self {
        Self {
            id: task.id.as_str(),
            content: task.content.as_str(),
            status: task.status,
            active_form: task.active_form(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryOut {
    total: usize,
    completed: usize,
    in_progress: usize,
    pending: usize,
    incomplete: usize,
    has_tasks: bool,
    all_completed: bool,
}

impl SummaryOut {
    fn of(counts: Counts) -> Self {
        Self {
            total: counts.total,
            completed: counts.completed,
            in_progress: counts.in_progress,
            pending: counts.pending,
            incomplete: counts.incomplete(),
            has_tasks: counts.total > 0,
            all_completed: counts.all_completed(),
        }
    }
}
