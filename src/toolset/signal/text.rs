//! The text of a signal: one line a task, and as many lines as there is room for.

use std::collections::HashMap;

use super::super::wording;
use super::{FourFields, Step};
use crate::domain::{Counts, Status, TaskId, TaskList, TaskView};

/// How much an agent needs a line, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    InProgress,
    Ready,
    Other,
}

struct Line {
    text: String,
    need: Need,
}

/// Returns the whole list as a text.
pub(super) fn of_list(list: &TaskList, bytes_max: Option<usize>) -> String {
    let head = match list.counts() {
        Counts { total: 0, .. } => "There are no tasks.".to_owned(),
        counts => format!("Current tasks: {}.", wording::counts(counts)),
    };
    let line = |view: &TaskView| Line { text: line("", FourFields::of(&view.task)), need: need(view) };
    bounded(head, &list.views().iter().map(line).collect::<Vec<_>>(), bytes_max)
}

/// Returns what changed as a text.
pub(super) fn of_steps(steps: &[Step<'_>], list: &TaskList, bytes_max: Option<usize>) -> String {
    let head = format!("The task list changed. Now: {}.", wording::counts(list.counts()));
    let views = list.views();
    let needs: HashMap<&TaskId, Need> = views.iter().map(|view| (&view.task.id, need(view))).collect();
    let need_of = |fields: &FourFields<'_>| needs.get(fields.id).copied().unwrap_or(Need::Other);
    let lines = steps.iter().map(|step| match step {
        Step::Add { task } => Line { text: line("added ", *task), need: need_of(task) },
        Step::Update { task } => Line { text: line("updated ", *task), need: need_of(task) },
        Step::Remove { id } => Line { text: format!("- removed {}", wording::id(id)), need: Need::Other },
    });
    bounded(head, &lines.collect::<Vec<_>>(), bytes_max)
}

fn need(view: &TaskView) -> Need {
    match view.task.status {
        Status::InProgress => Need::InProgress,
        Status::Pending if view.is_ready() => Need::Ready,
        Status::Pending | Status::Completed => Need::Other,
    }
}

/// Returns a task's line; all that is not its content stands before it, so that no content can pretend to be that.
fn line(verb: &str, task: FourFields<'_>) -> String {
    let content = wording::escaped(task.content, usize::MAX);
    let mut line = format!("- {verb}{} [{}] {content}", wording::id(task.id), task.status);
    if task.status == Status::InProgress && task.active_form != task.content {
        line.push_str(" | ");
        line.push_str(&wording::escaped(task.active_form, usize::MAX));
    }
    line
}

/// Puts the lines below the head, in their order. Where there is no room for all, those that are needed most have it, and
/// a last line counts the others.
fn bounded(head: String, lines: &[Line], bytes_max: Option<usize>) -> String {
    let bytes_max = bytes_max.unwrap_or(usize::MAX);
    let full = head.len() + lines.iter().map(|line| line.text.len() + 1).sum::<usize>();
    let mut shown = vec![true; lines.len()];
    let mut left_out = 0;
    if full > bytes_max {
        let mut room = bytes_max.saturating_sub(head.len() + not_shown(lines.len()).len());
        shown.fill(false);
        left_out = lines.len();
        let mut by_need: Vec<(&Line, &mut bool)> = lines.iter().zip(&mut shown).collect();
        by_need.sort_by_key(|(line, _)| line.need);
        for (line, shown) in by_need {
            // What is needed less must not slip in before what had no room, or the list would seem not to have it.
            let Some(rest) = room.checked_sub(line.text.len() + 1) else { break };
            room = rest;
            *shown = true;
            left_out -= 1;
        }
    }
    let mut text = head;
    for (line, _) in lines.iter().zip(&shown).filter(|(_, shown)| **shown) {
        text.push('\n');
        text.push_str(&line.text);
    }
    if left_out > 0 {
        text.push_str(&not_shown(left_out));
    }
    cut(text, bytes_max)
}

fn not_shown(lines: usize) -> String {
    format!("\nNot shown: {lines} more.")
}

/// Cuts the text to so many bytes, between two characters.
fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}
