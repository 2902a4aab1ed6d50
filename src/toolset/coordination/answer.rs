//! What the coordination tools answer.

use std::fmt::Write;

use serde::Serialize;

use crate::domain::{
    Change, Claim, History, Moment, Operation, Outcome, Refusal, Status, Summary, TaskId, TaskList, TaskView,
};
use crate::toolset::answer_text::{operation_text, push_warnings};
use crate::toolset::{Ask, Call, ToolResult, raw, wording};
use crate::wire::{ChangeOut, Detail, TaskOut, moment, moment_if_any};

/// The most bytes that the lines of a text about changes take.
const CHANGES_BYTES_SHOWN: usize = 6 * 1024;

pub(in crate::toolset) fn answered(call: &Call, list: &TaskList, outcome: &Outcome, changed: bool) -> ToolResult {
    match &call.ask {
        Ask::Change(operation @ Operation::Restore { .. }) => restored(call, operation, list, outcome, changed),
        Ask::Change(Operation::Claim(claim)) if outcome.task.is_none() => nothing_ready(call, claim, list),
        Ask::Change(operation) => held(call, operation_text(operation, outcome, changed), list, outcome.task.as_ref()),
        Ask::Read | Ask::History(_) | Ask::Wait(_) => held(call, "The list was read.".to_owned(), list, None),
    }
}

/// Answers what is about one task that somebody holds, held or wants to hold.
fn held(call: &Call, mut text: String, list: &TaskList, task: Option<&TaskId>) -> ToolResult {
    let view = task.and_then(|id| list.view(id));
    let lease = view.as_ref().and_then(|view| view.task.lease.as_ref());
    let lease = lease.map(|lease| LeaseOut { token: &lease.token, expires_at: lease.expires_at });
    // Writing to a String does not fail.
    if let Some(lease) = &lease {
        let until = wording::moment(lease.expires_at);
        let _ = write!(
            text,
            " Lease token: {}, until {until}. Show it when you complete or release the task.",
            lease.token
        );
    }
    if let Some(view) = &view {
        text.push('\n');
        wording::push_row(&mut text, view, wording::CONTENT_CHARS_SHOWN);
    }
    push_warnings(&mut text, &call.warnings);
    let task = view.as_ref().map(TaskOut::of);
    let body =
        HeldOut { revision: Some(list.revision().get()), task, lease, ..HeldOut::new(&text, false, &call.warnings) };
    let body = raw(&body);
    ToolResult::new(false, text, body)
}

/// Says why no task could be taken; that is an answer, not a refusal.
fn nothing_ready(call: &Call, claim: &Claim, list: &TaskList) -> ToolResult {
    let views = list.views();
    let count = |admits: &dyn Fn(&TaskView) -> bool| views.iter().filter(|view| admits(view)).count();
    let is_pending = |view: &TaskView| view.task.status == Status::Pending;
    let reasons = [
        (count(&|view| view.task.status == Status::Completed), "completed"),
        (count(&|view| view.task.status == Status::InProgress), "in progress"),
        (count(&|view| is_pending(view) && view.task.owner.is_some()), "pending but owned"),
        (
            count(&|view| is_pending(view) && view.task.owner.is_none() && !view.blocked_by.is_empty()),
            "waiting for other tasks",
        ),
        (count(&TaskView::is_ready), "ready but with other metadata"),
    ];
    let reasons: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let reasons = if reasons.is_empty() { "the list is empty".to_owned() } else { reasons.join(", ") };
    let advice = "Call task_wait with this revision to learn when that changes.";
    let owner = wording::owner(&claim.owner);
    let text = format!("No task is ready for {owner}: {reasons}. {advice} The revision is {}.", list.revision());
    held(call, text, list, None)
}

fn restored(call: &Call, operation: &Operation, list: &TaskList, outcome: &Outcome, changed: bool) -> ToolResult {
    let restored: Vec<&TaskId> = if changed {
        list.tasks().iter().filter(|task| task.revision == list.revision()).map(|task| &task.id).collect()
    } else {
        Vec::new()
    };
    let removed: Vec<&TaskId> = outcome.removed.iter().map(|view| &view.task.id).collect();
    let mut text = operation_text(operation, outcome, changed);
    // Writing to a String does not fail.
    if !restored.is_empty() {
        let ids = wording::bounded(restored.iter().map(|id| wording::id(id)));
        let _ = write!(text, " Brought back or read as before: {ids}.");
    }
    let _ = write!(text, " The revision is {}.", list.revision());
    push_warnings(&mut text, &call.warnings);
    let body = raw(&RestoredOut {
        content: &text,
        is_error: false,
        revision: list.revision().get(),
        restored,
        removed,
        warnings: &call.warnings,
    });
    ToolResult::new(false, text, body)
}

/// Tells what changed.
pub(in crate::toolset) fn told(call: &Call, history: &History) -> ToolResult {
    let mut text = match history.changes.len() {
        0 => format!("No such change is kept; the list is at revision {}.", history.revision),
        1 => "1 change, oldest first:".to_owned(),
        count => format!("{count} changes, oldest first:"),
    };
    push_changes(&mut text, &history.changes);
    // Writing to a String does not fail.
    if let Some(after) = history.next_after {
        let _ = write!(text, "\nThere may be more: call task_history with after {after}.");
    }
    let _ = write!(text, "\nThe oldest revision that can be restored is {}.", history.oldest);
    push_warnings(&mut text, &call.warnings);
    let body = raw(&ToldOut {
        content: &text,
        is_error: false,
        revision: history.revision.get(),
        changes: shown(&history.changes),
        oldest_revision: history.oldest.get(),
        next_after: history.next_after.map(crate::domain::Revision::get),
        warnings: &call.warnings,
    });
    ToolResult::new(false, text, body)
}

/// Tells what changed while the caller waited, or that nothing did.
pub(in crate::toolset) fn waited(call: &Call, list: &TaskList, has_changed: bool, changes: &[Change]) -> ToolResult {
    let revision = list.revision();
    let mut text = match (has_changed, changes.is_empty()) {
        (false, _) => format!("Nothing changed in that time; the list still is at revision {revision}."),
        (true, true) => format!("The list is at revision {revision} now; what changed is not kept, so read it anew."),
        (true, false) => format!("The list is at revision {revision} now. What changed, oldest first:"),
    };
    push_changes(&mut text, changes);
    push_warnings(&mut text, &call.warnings);
    let body = raw(&WaitedOut {
        content: &text,
        is_error: false,
        revision: revision.get(),
        has_changed,
        changes: shown(changes),
        warnings: &call.warnings,
    });
    ToolResult::new(false, text, body)
}

pub(in crate::toolset) fn not_done(
    text: String,
    refusal: Option<&Refusal>,
    list: Option<&TaskList>,
    warnings: &[String],
) -> ToolResult {
    let (holder, expires_at) = match refusal {
        Some(Refusal::Held { holder, expires_at, .. }) => (Some(holder.as_str()), *expires_at),
        _ => (None, None),
    };
    let revision = list.map(|list| list.revision().get());
    let body = raw(&HeldOut { revision, holder, expires_at, ..HeldOut::new(&text, true, warnings) });
    ToolResult::new(true, text, body)
}

fn shown(changes: &[Change]) -> Vec<ChangeOut<'_>> {
    changes.iter().map(|change| ChangeOut::of(change, Detail::BeforeAndAfter)).collect()
}

/// A line for each change, as many as fit.
fn push_changes(text: &mut String, changes: &[Change]) {
    let begin = text.len();
    for (at, change) in changes.iter().enumerate() {
        if text.len() - begin > CHANGES_BYTES_SHOWN {
            // Writing to a String does not fail.
            let _ = write!(text, "\n… and {} more, in the field changes.", changes.len() - at);
            return;
        }
        let _ = write!(
            text,
            "\n{} {} {} by {}: {}",
            change.revision,
            wording::moment(change.at),
            wording::escaped(&change.operation, 40),
            wording::escaped(change.actor.as_str(), 80),
            Summary::of(&change.ops)
        );
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeldOut<'a> {
    content: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<LeaseOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
    #[serde(serialize_with = "moment_if_any", skip_serializing_if = "Option::is_none")]
    expires_at: Option<Moment>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

impl<'a> HeldOut<'a> {
    fn new(content: &'a str, is_error: bool, warnings: &'a [String]) -> Self {
        Self { content, is_error, revision: None, task: None, lease: None, holder: None, expires_at: None, warnings }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LeaseOut<'a> {
    token: &'a str,
    #[serde(serialize_with = "moment")]
    expires_at: Moment,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RestoredOut<'a> {
    content: &'a str,
    is_error: bool,
    revision: i64,
    restored: Vec<&'a TaskId>,
    removed: Vec<&'a TaskId>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToldOut<'a> {
    content: &'a str,
    is_error: bool,
    revision: i64,
    changes: Vec<ChangeOut<'a>>,
    oldest_revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<i64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitedOut<'a> {
    content: &'a str,
    is_error: bool,
    revision: i64,
    has_changed: bool,
    changes: Vec<ChangeOut<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[cfg(test)]
mod tests {
    use crate::toolset::testing::Thread;

    const LIST: &str = r#"{"tasks":[
        {"id":"a","content":"A","status":"pending","activeForm":"Doing A"},
        {"id":"b","content":"B","status":"pending","activeForm":"Doing B"}]}"#;

    #[test]
    fn a_claim_returns_the_token_in_both_forms_and_the_refusal_names_the_holder() {
        let mut thread = Thread::default();
        thread.call("task_write", LIST);
        let claim = thread.call("task_claim", r#"{"owner":"w1"}"#);
        let token = claim["lease"]["token"].as_str().unwrap().to_owned();
        assert_eq!(claim["task"]["id"], "a");
        assert_eq!(claim["task"]["lease"]["owner"], "w1");
        assert!(claim["content"].as_str().unwrap().contains(&token));
        let refused = thread.call("task_claim", r#"{"owner":"w2","id":"a"}"#);
        assert_eq!((refused["isError"].clone(), refused["holder"].clone()), (true.into(), "w1".into()));
        assert_eq!(refused["expiresAt"], claim["lease"]["expiresAt"]);
        assert_eq!(thread.call("task_complete", r#"{"id":"a"}"#)["isError"], true);
        let done = thread.call("task_complete", &format!(r#"{{"id":"a","leaseToken":"{token}"}}"#));
        assert_eq!((done["isError"].clone(), done["tasks"][0]["status"].clone()), (false.into(), "completed".into()));
    }

    #[test]
    fn nothing_ready_is_an_answer_with_reasons() {
        let mut thread = Thread::default();
        thread.call("task_write", LIST);
        thread.call("TaskUpdate", r#"{"task_id":"b","add_blocked_by":["a"]}"#);
        thread.call("task_claim", r#"{"owner":"w1"}"#);
        let nothing = thread.call("task_claim", r#"{"owner":"w2"}"#);
        assert_eq!((nothing["isError"].clone(), nothing.get("task")), (false.into(), None));
        let text = nothing["content"].as_str().unwrap();
        assert!(text.contains("1 in progress, 1 waiting for other tasks"), "{text}");
    }
}
