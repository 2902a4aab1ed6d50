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
