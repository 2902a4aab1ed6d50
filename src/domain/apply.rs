//! What an operation does to a list. Pure: the moment and the commit's number are arguments.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::change::{Change, Op, ops_between};
use super::edit;
use super::ids::{Actor, TaskId};
use super::lease;
use super::limits::Limits;
use super::list::{Counters, TaskList, TaskView};
use super::operation::Operation;
use super::refusal::Refusal;
use super::restore;
use super::task::{Moment, Task, Version};
use super::write;

/// What an operation cannot know by itself.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// When it happens.
    pub at: Moment,
    /// The number of the commit that will store it.
    pub change_id: Version,
    /// Who asked for it.
    pub actor: Actor,
    /// The moment by the database's clock, which alone decides when leases end.
    pub store_at: Moment,
    /// The lease token that the caller shows.
    pub token: Option<Arc<str>>,
    /// Chance for a new lease token.
    pub secret: u64,
}

impl Stamp {
    /// Stamps what happens at a moment by every clock, with no token shown and none to be made.
    #[must_use]
    pub fn new(at: Moment, change_id: Version, actor: Actor) -> Self {
        Self { at, change_id, actor, store_at: at, token: None, secret: 0 }
    }
}

/// What an operation did, besides the list that it made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The task that it was about.
    pub task: Option<TaskId>,
    /// Tasks that it removed, as they were, in list order.
    pub removed: Vec<TaskView>,
    /// Tasks of the same owner that went back to pending.
    pub put_back: Vec<TaskId>,
    /// Tasks that had an open blocker and have none any more, in list order.
    pub unblocked: Vec<TaskId>,
    /// Which edge arguments changed an edge.
    pub edges: ChangedEdges,
    /// Tasks that a whole-list write left as they are because somebody holds them, in list order.
    pub held: Vec<TaskId>,
}

/// Which of a patch's edge arguments changed an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each edge argument of a patch")]
pub struct ChangedEdges {
    /// `add_blocks` did.
    pub add_blocks: bool,
    /// `add_blocked_by` did.
    pub add_blocked_by: bool,
    /// `remove_blocks` did.
    pub remove_blocks: bool,
    /// `remove_blocked_by` did.
    pub remove_blocked_by: bool,
}

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

/// A list in the making: tasks may be changed freely until it is settled.
pub(super) struct Sketch {
    pub(super) at: Moment,
    pub(super) tasks: Vec<Arc<Task>>,
    pub(super) counters: Counters,
    pub(super) outcome: Outcome,
}

impl Sketch {
    fn of(list: &TaskList, at: Moment) -> Self {
        Self { at, tasks: list.tasks.clone(), counters: list.counters, outcome: Outcome::default() }
    }

    pub(super) fn ids(&self) -> Vec<TaskId> {
        self.tasks.iter().map(|task| task.id.clone()).collect()
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&Arc<Task>> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    pub(super) fn view(&self, id: &TaskId) -> Result<TaskView, Refusal> {
        self.as_list().view(id).ok_or_else(|| unknown(id, self.ids()))
    }

    pub(super) fn views(&self) -> Vec<TaskView> {
        self.as_list().views()
    }

    fn as_list(&self) -> TaskList {
        TaskList { tasks: self.tasks.clone(), ..TaskList::default() }
    }

    /// Returns the task for changing.
    pub(super) fn edit(&mut self, id: &TaskId) -> Result<&mut Task, Refusal> {
        match self.tasks.iter().position(|task| task.id == *id) {
            Some(at) => self.tasks.get_mut(at).map(Arc::make_mut).ok_or_else(|| unknown(id, Vec::new())),
            None => Err(unknown(id, self.ids())),
        }
    }
}

fn unknown(id: &TaskId, available: Vec<TaskId>) -> Refusal {
    Refusal::UnknownTask { id: id.clone(), available }
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
    let mut list = TaskList { counters, tasks, ..before.clone() };
    let earlier = before.views();
    let mut later = list.views();
    let was: HashMap<&TaskId, &TaskView> = earlier.iter().map(|view| (&view.task.id, view)).collect();
    for (view, task) in later.iter_mut().zip(&mut list.tasks) {
        let stamped = match was.get(&view.task.id) {
            Some(was) if Arc::ptr_eq(&was.task, task) && view.reads_like(was) => continue,
            Some(was) if view.reads_like(was) => stamped_like(task, &was.task),
            _ => Task { revision, change_id: stamp.change_id, updated_at: stamp.at, ..Task::clone(task) },
        };
        *task = Arc::new(stamped);
        view.task = Arc::clone(task);
    }

    let ops = ops_between(&earlier, &later);
    outcome.removed = ops
        .iter()
        .filter_map(|op| if let Op::Remove { before, .. } = op { Some(before.clone()) } else { None })
        .collect();
    outcome.unblocked = later
        .iter()
        .filter(|view| view.blocked_by.is_empty())
        .filter(|view| was.get(&view.task.id).is_some_and(|was| !was.blocked_by.is_empty()))
        .map(|view| view.task.id.clone())
        .collect();
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

/// Removes edges that lead to tasks which are not in the list any more.
pub(super) fn drop_dangling_edges(tasks: &mut [Arc<Task>]) {
    let ids: HashSet<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    for task in tasks.iter_mut().filter(|task| !task.blockers.iter().all(|id| ids.contains(id))) {
        Arc::make_mut(task).blockers.retain(|id| ids.contains(id));
    }
}
