//! What `AgentScope`'s tools answer.

use std::fmt::Write;

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::domain::{
    ChangedEdges, Filter, Json, Operation, Outcome, Patch, Refusal, Status, TaskId, TaskList, TaskView,
};
use crate::json::to_text;
use crate::toolset::answer_text::push_warnings;
use crate::toolset::{Ask, Call, Reading, ToolResult, raw, refused, wording};

/// How to get the tasks for which a text had no room.
const HOW: &str =
    "Narrow TaskList with status, owner or ready, or see one task with TaskGet; the field tasks has them all.";
/// How to get what a text cuts of one task.
const HOW_WHOLE: &str = "cut here; the field task of this result has it whole";
/// The most characters of a subject where one task is shown.
const SUBJECT_CHARS_SHOWN: usize = 500;
/// The most bytes of a description in a text.
const DESCRIPTION_BYTES_SHOWN: usize = 5 * 1024;
/// The most characters of metadata in a text.
const METADATA_CHARS_SHOWN: usize = 1_000;

pub(in crate::toolset) fn answered(call: &Call, list: &TaskList, outcome: &Outcome, changed: bool) -> ToolResult {
    match &call.ask {
        Ask::Read => match &call.reading {
            Reading::One(id) => got(call, list, id),
            Reading::Matching(filter) => listed(call, list, filter),
            Reading::All => listed(call, list, &Filter::default()),
        },
        Ask::Change(Operation::Update { id, patch, .. }) => updated(call, list, outcome, id, patch, changed),
        Ask::Change(Operation::Delete(id)) => deleted(call, outcome, id),
        Ask::History(_) | Ask::Wait(_) => listed(call, list, &Filter::default()),
        Ask::Change(
            Operation::Create { .. }
            | Operation::Write(_)
            | Operation::Complete(_)
            | Operation::Clear
            | Operation::DeleteThread
            | Operation::Claim(_)
            | Operation::Release { .. }
            | Operation::Heartbeat { .. }
            | Operation::Expire
            | Operation::Restore { .. },
        ) => created(call, list, outcome),
    }
}

pub(in crate::toolset) fn not_done(text: String, warnings: &[String]) -> ToolResult {
    result(true, text, ResultOut { warnings, ..ResultOut::default() })
}

fn created(call: &Call, list: &TaskList, outcome: &Outcome) -> ToolResult {
    let view = outcome.task.as_ref().and_then(|id| list.view(id));
    let mut text = match &view {
        // AgentScope's web page reads the number from these first words.
        Some(view) => format!(
            "Task (id={}) is created, pending and without owner: {}",
            wording::escaped(view.task.id.as_str(), usize::MAX),
            wording::quoted(view.task.content.as_str(), SUBJECT_CHARS_SHOWN)
        ),
        None => "The task was created and has been removed since.".to_owned(),
    };
    push_warnings(&mut text, &call.warnings);
    result(false, text, ResultOut { task: view.map(TaskOut), warnings: &call.warnings, ..ResultOut::default() })
}

fn got(call: &Call, list: &TaskList, id: &TaskId) -> ToolResult {
    let Some(view) = list.view(id) else {
        let refusal = Refusal::UnknownTask { id: id.clone(), available: list.ids() };
        return refused(call.tool, &refusal, list, &call.warnings);
    };
    let mut text = whole(&view);
    push_warnings(&mut text, &call.warnings);
    result(false, text, ResultOut { task: Some(TaskOut(view)), warnings: &call.warnings, ..ResultOut::default() })
}

/// All there is to say about one task. Nothing in its texts can begin a line.
fn whole(view: &TaskView) -> String {
    let task = &view.task;
    let mut text = String::new();
    wording::push_row(&mut text, view, SUBJECT_CHARS_SHOWN);
    // Writing to a String does not fail.
    if !view.blocks.is_empty() {
        let _ = write!(text, "\nBlocks: {}", wording::ids(&view.blocks));
    }
    if let Some(active_form) = &task.active_form {
        let _ = write!(text, "\nActive form: {}", wording::quoted(active_form.as_str(), 200));
    }
    push_description(&mut text, task.description.as_str());
    if !task.metadata.is_empty() {
        let metadata = to_text(&Json::from(task.metadata.clone()));
        let is_cut = metadata.chars().nth(METADATA_CHARS_SHOWN).is_some();
        let note = if is_cut { format!(" ({HOW_WHOLE})") } else { String::new() };
        let _ = write!(text, "\nMetadata: {}{note}", wording::escaped(&metadata, METADATA_CHARS_SHOWN));
    }
    let _ = write!(text, "\nCreated: {}", wording::moment(task.created_at));
    text
}

fn push_description(text: &mut String, description: &str) {
    if description.is_empty() {
        text.push_str("\nNo description.");
        return;
    }
    text.push_str("\nDescription:");
    let mut room = DESCRIPTION_BYTES_SHOWN;
    for line in description.lines() {
        let line = wording::escaped(line, room);
        if line.len() + 3 > room {
            let kept: String = line.chars().take(room / 4).collect();
            // Writing to a String does not fail.
            let _ = write!(text, "\n> {kept}…\n({HOW_WHOLE}: {} bytes)", description.len());
            return;
        }
        room -= line.len() + 3;
        text.push_str("\n> ");
        text.push_str(&line);
    }
}

fn listed(call: &Call, list: &TaskList, filter: &Filter) -> ToolResult {
    let mut views = list.views();
    views.retain(|view| filter.admits(view));
    let total = wording::counts(list.counts());
    let mut text = if list.tasks().is_empty() {
        "There are no tasks.".to_owned()
    } else if *filter == Filter::default() {
        format!("There {} {total}.", if list.tasks().len() == 1 { "is" } else { "are" })
    } else if views.is_empty() {
        format!("No task matches; in all there {} {total}.", if list.tasks().len() == 1 { "is" } else { "are" })
    } else {
        format!("{} of {total} match{}.", views.len(), if views.len() == 1 { "es" } else { "" })
    };
    push_warnings(&mut text, &call.warnings);
    wording::push_rows(&mut text, &views, HOW);
    let tasks = views.into_iter().map(TaskOut).collect();
    result(false, text, ResultOut { tasks: Some(tasks), warnings: &call.warnings, ..ResultOut::default() })
}

fn updated(call: &Call, list: &TaskList, outcome: &Outcome, id: &TaskId, patch: &Patch, changed: bool) -> ToolResult {
    let fields = updated_fields(patch, outcome.edges);
    let shown = wording::id(id);
    let mut text = if changed {
        format!("Updated task {shown}: {}.", fields.join(", "))
    } else if fields.is_empty() && !has_edges(patch) {
        format!("Nothing changed: the call gives nothing to change of task {shown}.")
    } else {
        format!("Nothing changed: task {shown} already reads like this.")
    };
    let view = list.view(id);
    let open_blockers = match (patch.status, &view) {
        (Some(Status::InProgress | Status::Completed), Some(view)) => view.blocked_by.clone(),
        (Some(Status::InProgress | Status::Completed | Status::Pending) | None, _) => Vec::new(),
    };
    push_unblocked(&mut text, outcome);
    if !open_blockers.is_empty() {
        // Writing to a String does not fail.
        let _ = write!(
            text,
            " It still has open blockers: {}. Complete these first, if it needs them.",
            wording::ids(&open_blockers)
        );
    }
    push_warnings(&mut text, &call.warnings);
    if let Some(view) = &view {
        text.push('\n');
        wording::push_row(&mut text, view, SUBJECT_CHARS_SHOWN);
    }
    let body = ResultOut {
        task: view.map(TaskOut),
        updated_fields: Some(fields),
        unblocked: Some(&outcome.unblocked),
        open_blockers,
        warnings: &call.warnings,
        ..ResultOut::default()
    };
    result(false, text, body)
}

fn deleted(call: &Call, outcome: &Outcome, id: &TaskId) -> ToolResult {
    let mut text = format!("Deleted task {} and its dependencies.", wording::id(id));
    push_unblocked(&mut text, outcome);
    push_warnings(&mut text, &call.warnings);
    let body = ResultOut {
        updated_fields: Some(vec!["status"]),
        unblocked: Some(&outcome.unblocked),
        warnings: &call.warnings,
        ..ResultOut::default()
    };
    result(false, text, body)
}

/// The arguments that took effect: whatever value was given, but of edges only what changed one.
fn updated_fields(patch: &Patch, edges: ChangedEdges) -> Vec<&'static str> {
    let fields = [
        ("subject", patch.content.is_some()),
        ("description", patch.description.is_some()),
        ("activeForm", patch.active_form.is_some()),
        ("add_blocks", edges.add_blocks),
        ("add_blocked_by", edges.add_blocked_by),
        ("remove_blocks", edges.remove_blocks),
        ("remove_blocked_by", edges.remove_blocked_by),
        ("status", patch.status.is_some()),
        ("owner", patch.owner.is_some()),
        ("metadata", patch.metadata.is_some()),
    ];
    fields.into_iter().filter(|(_, took_effect)| *took_effect).map(|(name, _)| name).collect()
}

fn has_edges(patch: &Patch) -> bool {
    [&patch.add_blocks, &patch.add_blocked_by, &patch.remove_blocks, &patch.remove_blocked_by]
        .iter()
        .any(|ids| !ids.is_empty())
}

fn push_unblocked(text: &mut String, outcome: &Outcome) {
    if !outcome.unblocked.is_empty() {
        // Writing to a String does not fail.
        let _ = write!(text, " Not blocked any more: {}.", wording::ids(&outcome.unblocked));
    }
}

fn result(is_error: bool, text: String, body: ResultOut<'_>) -> ToolResult {
    let body = raw(&ResultOut { content: &text, is_error, ..body });
    ToolResult::new(is_error, text, body)
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultOut<'a> {
    content: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<TaskOut>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_fields: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unblocked: Option<&'a [TaskId]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_blockers: Vec<TaskId>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// A task in this dialect's words.
struct TaskOut(TaskView);

impl Serialize for TaskOut {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TaskView { task, blocks, blocked_by } = &self.0;
        let mut map = serializer.serialize_map(Some(9))?;
        map.serialize_entry("id", &task.id)?;
        map.serialize_entry("subject", &task.content)?;
        map.serialize_entry("description", &task.description)?;
        map.serialize_entry("state", &task.status)?;
        map.serialize_entry("owner", &task.owner)?;
        map.serialize_entry("metadata", &Json::from(task.metadata.clone()))?;
        map.serialize_entry("blocks", blocks)?;
        map.serialize_entry("blocked_by", blocked_by)?;
        map.serialize_entry("created_at", &wording::moment(task.created_at))?;
        map.end()
    }
}
