//! The text of an answer that shows the whole list: what was done, what went with it, and a line for each task.

use std::fmt::Write;

use super::wording;
use crate::domain::{Operation, Outcome, TaskId, TaskList, TaskView};

/// How to get the tasks for which a text had no room.
const HOW: &str = "The field tasks of this result has all of them; GET /threads/{thread_id}/tasks takes the filters \
                   status, owner and ready.";

/// Returns what an operation did and the list as it is now; without an operation, just the list.
///
/// The text stands alone, is bounded at about 8 KiB, and has one line a task.
#[must_use]
pub fn list_text(
    operation: Option<&Operation>,
    list: &TaskList,
    outcome: &Outcome,
    changed: bool,
    warnings: &[String],
) -> String {
    let mut text = headline(operation, list, outcome, changed);
    push_warnings(&mut text, warnings);
    wording::push_rows(&mut text, &list.views(), HOW);
    text
}

/// Returns the first line of [`list_text`], which is all that is wanted where the tasks are not.
#[must_use]
pub fn headline(operation: Option<&Operation>, list: &TaskList, outcome: &Outcome, changed: bool) -> String {
    let mut text = operation.map(|operation| operation_text(operation, outcome, changed)).unwrap_or_default();
    push_consequences(&mut text, outcome, operation);
    push_counts(&mut text, list);
    text
}

/// Returns what an operation did, without its consequences.
pub(super) fn operation_text(operation: &Operation, outcome: &Outcome, changed: bool) -> String {
    if changed { done(operation, outcome) } else { nothing_done(operation, outcome) }
}

fn done(operation: &Operation, outcome: &Outcome) -> String {
    match operation {
        Operation::Write(_) => {
            let mut text = "The list is written.".to_owned();
            push_removed(&mut text, &outcome.removed);
            if outcome.removed.iter().any(|view| !lost_with(view).is_empty()) {
                text.push_str(" To change a task's content and keep the rest of it, give its id.");
            }
            text
        }
        Operation::Update { id, .. } => format!("Updated {}.", wording::id(id)),
        Operation::Complete(id) => format!("Completed {}.", wording::id(id)),
        Operation::Create { draft, .. } => match outcome.task.as_ref().or(draft.id.as_ref()) {
            Some(id) => format!("Created {}.", wording::id(id)),
            None => "Created the task.".to_owned(),
        },
        Operation::Delete(id) => format!("Deleted {}.", wording::id(id)),
        Operation::Clear => format!("Removed {}.", wording::tasks(outcome.removed.len())),
        Operation::DeleteThread => "Deleted the thread with its tasks and its history.".to_owned(),
        Operation::Claim(claim) => match &outcome.task {
            Some(id) => format!("{} holds {} now.", wording::owner(&claim.owner), wording::id(id)),
            None => "No task is ready.".to_owned(),
        },
        Operation::Release { id, .. } => format!("{} is pending again and nobody's.", wording::id(id)),
        Operation::Heartbeat { id, .. } => format!("{} is held for longer.", wording::id(id)),
        Operation::Expire => "Tasks whose leases had ended are pending again.".to_owned(),
        Operation::Restore { revision, .. } => {
            let mut text = format!("The list is what it was at revision {revision}.");
            push_removed(&mut text, &outcome.removed);
            text
        }
    }
}

fn nothing_done(operation: &Operation, outcome: &Outcome) -> String {
    let already = |id: &TaskId| format!("Nothing changed: {} already reads like this.", wording::id(id));
    match operation {
        Operation::Write(_) => "Nothing changed: the list already reads like this.".to_owned(),
        Operation::Update { id, .. } => already(id),
        Operation::Complete(id) => format!("Nothing changed: {} was completed already.", wording::id(id)),
        Operation::Create { .. } => outcome.task.as_ref().map_or_else(|| "Nothing changed.".to_owned(), already),
        Operation::Delete(_) | Operation::DeleteThread => "Nothing changed.".to_owned(),
        Operation::Clear => "Nothing changed: the list was empty already.".to_owned(),
        Operation::Claim(_) | Operation::Heartbeat { .. } => done(operation, outcome),
        Operation::Release { id, .. } => format!("Nothing changed: nobody holds {}.", wording::id(id)),
        Operation::Expire => "Nothing changed: no lease has ended.".to_owned(),
        Operation::Restore { revision, .. } => {
            format!("Nothing changed: the list is as it was at revision {revision}.")
        }
    }
}

/// Names the removed tasks, and of those that had what the caller's dialect cannot say also what went with them.
fn push_removed(text: &mut String, removed: &[TaskView]) {
    if removed.is_empty() {
        return;
    }
    // Writing to a String does not fail.
    let _ = write!(text, " Removed: {}.", wording::bounded(removed.iter().map(|view| wording::id(&view.task.id))));
    let losses: Vec<String> = removed
        .iter()
        .filter_map(|view| {
            let lost = lost_with(view);
            (!lost.is_empty()).then(|| format!("{} ({})", wording::id(&view.task.id), lost.join(", ")))
        })
        .collect();
    if !losses.is_empty() {
        let _ = write!(text, " Dropped with them: {}.", wording::bounded(losses.into_iter()));
    }
}

fn lost_with(view: &TaskView) -> Vec<&'static str> {
    let task = &view.task;
    let parts = [
        ("description", !task.description.as_str().is_empty()),
        ("owner", task.owner.is_some()),
        ("metadata", !task.metadata.is_empty()),
        ("dependencies", !task.blockers.is_empty() || !view.blocks.is_empty()),
    ];
    parts.into_iter().filter(|(_, had)| *had).map(|(part, _)| part).collect()
}

fn push_consequences(text: &mut String, outcome: &Outcome, operation: Option<&Operation>) {
    // Writing to a String does not fail.
    if !outcome.put_back.is_empty() {
        let ids = wording::ids(&outcome.put_back);
        let _ = write!(text, " Put back to pending, since one task is in progress at a time: {ids}.");
    }
    if !outcome.held.is_empty() && matches!(operation, Some(Operation::Write(_))) {
        let ids = wording::ids(&outcome.held);
        let _ = write!(text, " Left as they are, since somebody holds them: {ids}.");
    }
    if !outcome.unblocked.is_empty() {
        let _ = write!(text, " Not blocked any more: {}.", wording::ids(&outcome.unblocked));
    }
}

fn push_counts(text: &mut String, list: &TaskList) {
    let counts = list.counts();
    text.push_str(if text.is_empty() { "" } else { " " });
    if counts.total == 0 {
        text.push_str("There are no tasks.");
    } else if counts.all_completed() {
        // Writing to a String does not fail.
        let _ = match counts.total {
            1 => write!(text, "The only task is completed."),
            total => write!(text, "All {} are completed.", wording::tasks(total)),
        };
    } else {
        let _ = write!(text, "There {} {}.", if counts.total == 1 { "is" } else { "are" }, wording::counts(counts));
    }
}

/// Names the arguments that were dropped.
pub(super) fn push_warnings(text: &mut String, warnings: &[String]) {
    if !warnings.is_empty() {
        if !text.ends_with(['.', '\n']) {
            text.push('.');
        }
        // Writing to a String does not fail.
        let _ = write!(text, " Ignored, as there is no such argument: {}.", wording::bounded(warnings.iter().cloned()));
    }
}
