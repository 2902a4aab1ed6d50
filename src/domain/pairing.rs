//! Two states of a list, task by task. Most tasks stand where they stood, so only what comes after the first difference has
//! to be looked up.

use std::collections::HashMap;
use std::sync::Arc;

use super::ids::TaskId;
use super::task::Task;
use super::view::TaskView;

/// What has an id that is unique within its list.
pub(super) trait Identified {
    fn id(&self) -> &TaskId;
}

impl Identified for Arc<Task> {
    fn id(&self) -> &TaskId {
        &self.id
    }
}

impl Identified for TaskView {
    fn id(&self) -> &TaskId {
        &self.task.id
    }
}

/// The earlier of two states, seen from the later one.
pub(super) struct Pairing<'a, T> {
    common: &'a [T],
    /// What stands after those that stand where they stood.
    rest: &'a [T],
    by_id: HashMap<&'a TaskId, &'a T>,
}

impl<'a, T: Identified> Pairing<'a, T> {
    pub(super) fn of(earlier: &'a [T], later: &[T]) -> Self {
        let common = earlier.iter().zip(later).take_while(|(was, is)| was.id() == is.id()).count();
        let (common, rest) = earlier.split_at(common);
        Self { common, rest, by_id: rest.iter().map(|was| (was.id(), was)).collect() }
    }

    /// Returns how many stand where they stood, from the first one on.
    pub(super) fn common(&self) -> usize {
        self.common.len()
    }

    /// Returns what stood after those.
    pub(super) fn rest(&self) -> &'a [T] {
        self.rest
    }

    /// Returns what the task was that stands at this place now, if it was there at all.
    pub(super) fn was(&self, at: usize, id: &TaskId) -> Option<&'a T> {
        self.common.get(at).or_else(|| self.by_id.get(id).copied())
    }
}

/// Returns how many tasks at the beginning and at the end are the very same in both states, so that only what lies between
/// has to be compared.
pub(super) fn unchanged_ends(earlier: &[Arc<Task>], later: &[Arc<Task>]) -> (usize, usize) {
    // An edge makes tasks read differently that did not change themselves.
    let has_edges = |tasks: &[Arc<Task>]| tasks.iter().any(|task| !task.blockers.is_empty());
    if has_edges(earlier) || has_edges(later) {
        return (0, 0);
    }
    let is_same = |(was, is): &(&Arc<Task>, &Arc<Task>)| Arc::ptr_eq(was, is);
    let head = earlier.iter().zip(later).take_while(is_same).count();
    let most = earlier.len().min(later.len()) - head;
    let tail = earlier.iter().rev().zip(later.iter().rev()).take(most).take_while(is_same).count();
    let (was, is) = (between(earlier, head, tail), between(later, head, tail));
    // What comes new comes at the end of the list, not before its last tasks.
    let stays_in_place = is.is_empty() || was.iter().map(|task| &task.id).eq(is.iter().map(|task| &task.id));
    (head, if stays_in_place { tail } else { 0 })
}

/// Returns what lies between the first and the last so many.
pub(super) fn between<T>(all: &[T], head: usize, tail: usize) -> &[T] {
    all.get(head..all.len().saturating_sub(tail)).unwrap_or_default()
}
