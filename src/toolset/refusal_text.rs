//! What a refusal says, in one place for REST and tools: what was wrong, and what to do next.

use super::wording;
use crate::domain::{Refusal, TaskId};

/// The most characters of a content that a refusal repeats.
const CONTENT_CHARS_NAMED: usize = 80;

/// Returns one or two sentences that an agent can act on. Nothing in them can look like anything but part of a sentence.
#[must_use]
pub fn sentence(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UnknownTask { id, available } => {
            format!("There is no task {}. {}", wording::id(id), ids_there_are(available))
        }
        Refusal::UnknownThread => "There is no task list in this thread, so there is nothing to delete.".to_owned(),
        Refusal::TaskExists { id } => format!(
            "There is a task {} already. Leave the id out to get a new one, or update that task.",
            wording::id(id)
        ),
        Refusal::SeveralInProgress { owner, tasks } => {
            let who = owner.as_ref().map_or("the unowned tasks".to_owned(), |owner| {
                format!("the tasks of owner {}", wording::owner(owner))
            });
            let contents = tasks.iter().map(|content| wording::quoted(content.as_str(), CONTENT_CHARS_NAMED));
            format!(
                "Only one of {who} can be in progress, but {} would be: {}. Set all but one of them to pending or completed.",
                tasks.len(),
                wording::bounded(contents)
            )
        }
        Refusal::SelfDependency { id } => {
            format!("Task {0} cannot block itself. Leave {0} out of its own dependencies.", wording::id(id))
        }
        Refusal::UnknownDependency { id, unknown, available } => format!(
            "Task {} cannot get a dependency on {}: there is no such task. {}",
            wording::id(id),
            wording::id(unknown),
            ids_there_are(available)
        ),
        Refusal::Cycle { blocker, blocked, path } => format!(
            "Task {} cannot block task {}: they would wait for each other ({}). Remove one of these dependencies first.",
            wording::id(blocker),
            wording::id(blocked),
            path_text(path)
        ),
        Refusal::Held { id, holder, expires_at: Some(expires_at) } => format!(
            "Task {} is held by {} until {}. Show the lease_token of that very claim, wait, or take it back with task_release \
             and force: true if its holder is dead.",
            wording::id(id),
            wording::owner(holder),
            wording::moment(*expires_at)
        ),
        Refusal::Held { id, holder, expires_at: None } => format!(
            "Task {} belongs to {}. Claim another one, or take it back with task_release and force: true if its owner is \
             dead.",
            wording::id(id),
            wording::owner(holder)
        ),
        Refusal::LeaseEnded { id } => format!(
            "The lease of task {0} that this token is of has ended, and nobody holds {0} now. Look at the task, then claim \
             it again with task_claim.",
            wording::id(id)
        ),
        Refusal::NotClaimed { id } => format!(
            "Nobody has claimed task {0}, so that it can be neither given back nor held for longer. Claim it with task_claim, \
             or take it from whoever owns it with task_release and force: true.",
            wording::id(id)
        ),
        Refusal::AlreadyCompleted { id } => format!(
            "Task {} is completed. Claim another one, or re-open it with an update of its status first.",
            wording::id(id)
        ),
        Refusal::Blocked { id, blockers } => format!(
            "Task {} waits for {}. Complete these first, or claim without an id to get one that is ready.",
            wording::id(id),
            wording::ids(blockers)
        ),
        Refusal::FutureRevision { revision, newest } => {
            format!(
                "The list never had revision {revision}: its newest is {newest}. See task_history for those there are."
            )
        }
        Refusal::RevisionNotKept { revision, oldest } => format!(
            "Revision {revision} is not kept any more: the oldest that can be restored is {oldest}. See task_history."
        ),
        Refusal::TooManyTasks { tasks, tasks_max } => format!(
            "The list would have {tasks} tasks, and may have {tasks_max}. Remove completed tasks, or use another thread."
        ),
        Refusal::ListTooLarge { bytes, bytes_max } => format!(
            "The list would have {bytes} bytes of text, and may have {bytes_max}. Shorten descriptions and metadata, or \
             remove completed tasks."
        ),
        Refusal::DescriptionTooLarge { bytes, bytes_max } => {
            format!("The description has {bytes} bytes, and may have {bytes_max}. Shorten it.")
        }
        Refusal::MetadataTooLarge { bytes, bytes_max } => {
            format!("The task's metadata would have {bytes} bytes, and may have {bytes_max}. Keep less in it.")
        }
        Refusal::MetadataTooDeep { levels, levels_max } => {
            format!("The task's metadata would have {levels} levels, and may have {levels_max}. Make it flatter.")
        }
    }
}

fn ids_there_are(available: &[TaskId]) -> String {
    match available.len() {
        0 => "The list has no tasks.".to_owned(),
        1 => format!("The only id is {}.", wording::ids(available)),
        _ => format!("The ids are {} (list the tasks to see each with its content).", wording::ids(available)),
    }
}

fn path_text(path: &[TaskId]) -> String {
    const STEPS_SHOWN_MAX: usize = 12;
    let shown: Vec<String> = path.iter().take(STEPS_SHOWN_MAX).map(wording::id).collect();
    let more = path.len() - shown.len();
    let more = if more > 0 { format!(" blocks … and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(" blocks "))
}
