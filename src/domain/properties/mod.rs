//! What holds after any sequence of operations: the invariants of the module's first page, tried on random stories.

mod step;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::TimeDelta;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::fixture::Story;
use super::*;
use step::{Step, step};

/// A story, and the list as it was at each revision.
struct Run {
    story: Story,
    past: HashMap<Revision, TaskList>,
}

impl Run {
    fn new() -> Self {
        let story = Story::new();
        Self { past: HashMap::from([(Revision::default(), story.list.clone())]), story }
    }

    /// Takes one step and checks all that must hold after it.
    fn take(&mut self, step: &Step) {
        if let Step::Expire { after_seconds } = step {
            self.story.now += TimeDelta::seconds(*after_seconds);
        }
        let (operation, token) = (step.operation(&self.story), step.token(&self.story));
        let before = self.story.list.clone();
        let Ok(applied) = self.story.attempt(&operation, token.as_deref()) else {
            assert_eq!(self.story.list, before, "a refusal changed the list");
            return;
        };
        check_list(&applied.list);
        check_change(&before, &applied, &operation, self.story.now);
        check_focus(&applied.list, &operation);
        if let Operation::Restore { revision, .. } = &operation {
            assert_same(&restored(&self.past[revision]), &applied.list.views(), "restored");
        }
        self.past.insert(applied.list.revision(), applied.list);
    }
}

/// What a list reads like after it was restored: leases have ended.
fn restored(list: &TaskList) -> Vec<TaskView> {
    let mut views = list.views();
    for view in &mut views {
        Arc::make_mut(&mut view.task).lease = None;
    }
    views
}

fn check_list(list: &TaskList) {
    let ids: HashSet<TaskId> = list.ids().into_iter().collect();
    assert_eq!(ids.len(), list.tasks().len(), "two tasks share an id");
    assert!(list.tasks().is_sorted_by(|one, next| one.position < next.position), "positions do not ascend");
    for task in list.tasks() {
        assert!(task.blockers.iter().all(|id| ids.contains(id)), "an edge leads out of the list");
        assert_eq!(task.blockers.iter().collect::<HashSet<_>>().len(), task.blockers.len(), "an edge is kept twice");
        assert_eq!(task.completed_at.is_some(), task.status == Status::Completed);
        assert!(task.revision <= list.revision());
        if task.lease.is_some() {
            assert!(task.status == Status::InProgress && task.owner.is_some(), "a lease on what nobody does");
        }
    }
    check_acyclic(list);
    for view in list.views() {
        assert_eq!(list.view(&view.task.id), Some(view.clone()), "one task reads differently than in its list");
        let is_open = |id: &TaskId| list.get(id).unwrap().status != Status::Completed;
        assert!(!(view.is_ready() && view.task.blockers.iter().any(is_open)), "a ready task waits");
    }
}

/// Takes away what waits for nothing until nothing is left, which a cycle would prevent.
fn check_acyclic(list: &TaskList) {
    let mut waiting: HashMap<TaskId, Vec<TaskId>> =
        list.tasks().iter().map(|task| (task.id.clone(), task.blockers.clone())).collect();
    while !waiting.is_empty() {
        let free = waiting.iter().find(|(_, blockers)| blockers.iter().all(|id| !waiting.contains_key(id)));
        let free = free.map(|(id, _)| id.clone()).expect("tasks wait for each other");
        waiting.remove(&free);
    }
}

fn check_change(before: &TaskList, applied: &Applied, operation: &Operation, now: Moment) {
    let after = &applied.list;
    let (was, is) = (before.views(), after.views());
    let Some(change) = &applied.change else {
        assert_eq!((after.revision(), after.change_id()), (before.revision(), before.change_id()));
        assert_same(&was, &is, "without a change");
        return;
    };
    assert_eq!(after.revision(), before.revision().next());
    assert_eq!((change.revision, change.change_id), (after.revision(), after.change_id()));
    for view in &is {
        let earlier = was.iter().find(|earlier| earlier.task.id == view.task.id);
        let stamps = |task: &Task| (task.revision, task.change_id, task.updated_at);
        let expected = match earlier.filter(|earlier| earlier.reads_like(view)) {
            Some(earlier) => stamps(&earlier.task),
            None => (after.revision(), after.change_id(), now),
        };
        assert_eq!(stamps(&view.task), expected, "the stamps of {}", view.task.id);
    }
    if *operation == Operation::DeleteThread {
        assert!(after.tasks().is_empty() && !after.exists());
        return;
    }
    assert!(!change.ops.is_empty());
    assert_same(&views_of(replayed(before.tasks(), &change.ops)), &is, "replayed");
    assert_same(&views_of(replayed_back(after.tasks(), &change.ops)), &was, "replayed back");
}

fn views_of(tasks: Vec<Arc<Task>>) -> Vec<TaskView> {
    TaskList::restored(Revision::default(), Version::default(), None, Counters::default(), tasks).unwrap().views()
}

/// Compares what readers see, order included.
fn assert_same(one: &[TaskView], other: &[TaskView], what: &str) {
    let is_same = one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| one.task.id == other.task.id && one.reads_like(other));
    assert!(is_same, "{what}, the list differs:\n{one:#?}\n{other:#?}");
}

fn check_focus(list: &TaskList, operation: &Operation) {
    let busy = |owner: Option<&Owner>| {
        list.tasks().iter().filter(|task| task.occupies_owner() && task.owner.as_ref() == owner).count()
    };
    match operation {
        Operation::Write(_) => {
            assert!(list.tasks().iter().all(|task| busy(task.owner.as_ref()) <= 1), "a write left several in progress");
        }
        Operation::Update { id, focus: Focus::One, .. } => {
            assert!(busy(list.get(id).unwrap().owner.as_ref()) <= 1, "an update left several in progress");
        }
        Operation::Create { draft, focus: Focus::One } if draft.status == Status::InProgress => {
            assert!(busy(draft.owner.as_ref()) <= 1, "a creation made several in progress");
        }
        _ => {}
    }
}

proptest! {
    // A failure is printed with its shortest story; a file of old failures would only be one more thing to keep.
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_story_keeps_the_invariants(steps in vec(step(), 1..16)) {
        let mut run = Run::new();
        for step in &steps {
            run.take(step);
        }
    }

    #[test]
    fn the_same_write_of_different_contents_changes_nothing_the_second_time(
        steps in vec(step(), 0..8),
        contents in proptest::sample::subsequence((0..6_u8).collect::<Vec<_>>(), 0..6).prop_shuffle(),
        ids in vec(option::of(any::<u8>()), 6),
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.take(step);
        }
        let items = ids.into_iter().zip(contents).map(|(id, content)| (id, content, Status::Pending)).collect();
        let write = Step::Write(items).operation(&run.story);
        if run.story.attempt(&write, None).is_ok() {
            let again = run.story.attempt(&write, None).unwrap();
            prop_assert_eq!(again.change, None);
        }
    }
}
