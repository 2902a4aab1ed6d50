//! Edges between tasks: kept once, with the blocked task; acyclic at all times.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ids::TaskId;
use super::task::Task;

/// Removes edges that lead to tasks which are not in the list any more.
pub(super) fn drop_dangling_edges(tasks: &mut [Arc<Task>]) {
    let ids: HashSet<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    for task in tasks.iter_mut().filter(|task| !task.blockers.iter().all(|id| ids.contains(id))) {
        Arc::make_mut(task).blockers.retain(|id| ids.contains(id));
    }
}

/// Returns a cycle through this task, if there is one: each task blocks the next, the first is the last.
///
/// A list without cycles that got new edges at one task can have new cycles only through that task, so that one walk over
/// what it blocks, and what those block, finds them. Completed tasks count: re-opening one must not make a cycle.
pub(super) fn cycle_through(tasks: &[Arc<Task>], id: &TaskId) -> Option<Vec<TaskId>> {
    let mut blocks: HashMap<&TaskId, Vec<&TaskId>> = HashMap::new();
    for task in tasks {
        for blocker in &task.blockers {
            blocks.entry(blocker).or_default().push(&task.id);
        }
    }
    let mut reached_from: HashMap<&TaskId, &TaskId> = HashMap::new();
    let mut frontier = vec![id];
    while let Some(blocker) = frontier.pop() {
        for blocked in blocks.get(blocker).into_iter().flatten() {
            if *blocked == id {
                return Some(walked_back(id, blocker, &reached_from));
            }
            if !reached_from.contains_key(blocked) {
                reached_from.insert(blocked, blocker);
                frontier.push(blocked);
            }
        }
    }
    None
}

fn walked_back(id: &TaskId, last: &TaskId, reached_from: &HashMap<&TaskId, &TaskId>) -> Vec<TaskId> {
    let mut path = vec![id.clone()];
    let mut at = last;
    while at != id {
        path.push(at.clone());
        match reached_from.get(at) {
            Some(earlier) => at = earlier,
            None => break,
        }
    }
    path.push(id.clone());
    path.reverse();
    path
}
