//! What an operation does to a list. Pure: the moment and the commit's number are arguments.

use std::sync::Arc;

use super::change::{Change, Op, ops_between};
use super::edit;
use super::ids::TaskId;
use super::lease;
use super::limits::Limits;
use super::list::TaskList;
use super::operation::Operation;
use super::pairing::{Pairing, between, unchanged_ends};
use super::refusal::Refusal;
use super::restore;
use super::sketch::{Outcome, Sketch, Stamp};
use super::task::Task;
use super::view::views_of;
use super::write;

/// The list that an operation made.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The list as it is now.
    pub list: TaskList,
    /// The record of what changed; `None` if no reader would see a difference.
    pub change: Option<Change>,
    /// What the operation did, for the answer's text.
    pub outcome: Outcome,
}

/// Applies one operation to a list.
///
/// # Errors
/// A [`Refusal`]; the list then stays as it is.
pub fn apply(list: &TaskList, operation: &Operation, stamp: &Stamp, limits: &Limits) -> Result<Applied, Refusal> {
    let mut sketch = Sketch::of(list, stamp.at);
    lease::check_token(list, operation, stamp)?;
    match operation {
        Operation::Write(items) => write::write(&mut sketch, items)?,
        Operation::Update { id, patch, focus } => edit::update(&mut sketch, id, patch, *focus, limits)?,
        Operation::Complete(id) => edit::complete(&mut sketch, id)?,
        Operation::Create { draft, focus } => edit::create(&mut sketch, draft, *focus, limits)?,
        Operation::Delete(id) => edit::delete(&mut sketch, id)?,
        Operation::Clear => sketch.tasks.clear(),
        Operation::DeleteThread if list.exists() => sketch.tasks.clear(),
        Operation::DeleteThread => return Err(Refusal::UnknownThread),
        Operation::Claim(claim) => lease::claim(&mut sketch, claim, stamp)?,
        Operation::Release { id, .. } => lease::release(&mut sketch, id)?,
        Operation::Heartbeat { id, lease_seconds } => lease::extend(&mut sketch, id, *lease_seconds, stamp)?,
        Operation::Expire => lease::expire(&mut sketch, stamp.store_at),
        Operation::Restore { revision, since } => restore::restore(&mut sketch, list, *revision, since)?,
    }
    check_size(list, &sketch.tasks, limits)?;
    Ok(settled(list, sketch, operation, stamp))
}

/// A list over its bounds (which an operator may have lowered) may shrink, but not grow.
fn check_size(before: &TaskList, tasks: &[Arc<Task>], limits: &Limits) -> Result<(), Refusal> {
    if tasks.len() > limits.tasks_max && tasks.len() > before.tasks.len() {
        return Err(Refusal::TooManyTasks { tasks: tasks.len(), tasks_max: limits.tasks_max });
    }
    let size = |tasks: &[Arc<Task>]| tasks.iter().map(|task| task.size_bytes()).sum::<usize>();
    let bytes = size(tasks);
    if bytes > limits.list_bytes_max && bytes > size(&before.tasks) {
        return Err(Refusal::ListTooLarge { bytes, bytes_max: limits.list_bytes_max });
    }
    Ok(())
}

/// Finds what differs, stamps it, and puts down what is to be stored.
fn settled(before: &TaskList, sketch: Sketch, operation: &Operation, stamp: &Stamp) -> Applied {
    let Sketch { mut tasks, counters, mut outcome, .. } = sketch;
    place(&mut tasks);
    let revision = before.revision.next();
    let (head, tail) = unchanged_ends(&before.tasks, &tasks);
    let earlier = views_of(between(&before.tasks, head, tail));
    let mut later = views_of(between(&tasks, head, tail));
    let pairing = Pairing::of(&earlier, &later);
    for (at, (view, task)) in later.iter_mut().zip(tasks.iter_mut().skip(head)).enumerate() {
        let stamped = match pairing.was(at, &view.task.id) {
            Some(was) if Arc::ptr_eq(&was.task, task) && view.reads_like(was) => continue,
            Some(was) if view.reads_like(was) => stamped_like(task, &was.task),
            _ => Task { revision, change_id: stamp.change_id, updated_at: stamp.at, ..Task::clone(task) },
        };
        *task = Arc::new(stamped);
        view.task = Arc::clone(task);
    }
    let mut list = TaskList {
        revision: before.revision,
        change_id: before.change_id,
        deleted_at_revision: before.deleted_at_revision,
        counters,
        tasks: Arc::new(tasks),
    };

    let mut ops = ops_between(&earlier, &later, &pairing);
    for op in &mut ops {
        match op {
            Op::Remove { place, .. } => *place += head,
            Op::Order { before: was, after: is } => (*was, *is) = (before.ids(), list.ids()),
            Op::Add(_) | Op::Update { .. } => {}
        }
    }
    outcome.removed = ops
        .iter()
        .filter_map(|op| if let Op::Remove { before, .. } = op { Some(before.clone()) } else { None })
        .collect();
    let was_blocked = |at: usize, id: &TaskId| pairing.was(at, id).is_some_and(|was| !was.blocked_by.is_empty());
    let unblocked = later.iter().enumerate().filter(|(_, view)| view.blocked_by.is_empty());
    let unblocked = unblocked.filter(|(at, view)| was_blocked(*at, &view.task.id));
    outcome.unblocked = unblocked.map(|(_, view)| view.task.id.clone()).collect();
    let deletes_thread = matches!(operation, Operation::DeleteThread);
    let change = (deletes_thread || !ops.is_empty()).then(|| Change {
        revision,
        change_id: stamp.change_id,
        operation: operation.name().into(),
        actor: stamp.actor.clone(),
        at: stamp.at,
        // A deletion leaves nothing of what it deleted: whoever follows the list begins anew with it.
        ops: if deletes_thread { Vec::new() } else { ops },
    });
    if change.is_some() {
        list.revision = revision;
        list.change_id = stamp.change_id;
    }
    if deletes_thread {
        list.deleted_at_revision = Some(revision);
    }
    Applied { list, change, outcome }
}

/// A task that reads as before keeps the stamps that it had, whatever else of it differs.
fn stamped_like(task: &Task, was: &Task) -> Task {
    Task { revision: was.revision, change_id: was.change_id, updated_at: was.updated_at, ..task.clone() }
}

/// Makes positions ascend, moving as few tasks as a single walk can.
fn place(tasks: &mut [Arc<Task>]) {
    let mut last = 0;
    for task in tasks {
        if task.position <= last {
            Arc::make_mut(task).position = last + 1;
        }
        last = task.position;
    }
}
