//! What holds after any sequence of operations: the invariants of the module's first page, tried on random stories.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::TimeDelta;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::fixture::{Story, item, owner, task_id};
use super::*;

/// A task of the list as it will be by then, or one that is not in it.
type Pick = u8;

/// One step of a story. Tasks are picked by number, since only the run knows which there are.
#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(Option<Pick>, u8, Status)>),
    Update { pick: Pick, edit: Edit, edges: [Vec<Pick>; 4], focus: Focus, shows_token: bool },
    Complete { pick: Pick, shows_token: bool },
    Create { content: u8, status: Status, owner: Option<u8>, edges: [Vec<Pick>; 2], focus: Focus },
    Delete { pick: Pick, shows_token: bool },
    Clear,
    DeleteThread,
    Claim { name: u8, pick: Option<Pick>, lease_seconds: u32 },
    Release { pick: Pick, force: bool },
    Heartbeat { pick: Pick },
    Expire { after_seconds: i64 },
    Restore { back: u8 },
}

#[derive(Debug, Clone)]
struct Edit {
    content: Option<u8>,
    status: Option<Status>,
    active_form: Option<u8>,
    description: Option<u8>,
    owner: Option<Option<u8>>,
    metadata: Option<(u8, Option<u8>)>,
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![Just(Status::Pending), Just(Status::InProgress), Just(Status::Completed)]
}

fn focus() -> impl Strategy<Value = Focus> {
    prop_oneof![Just(Focus::One), Just(Focus::Many)]
}

fn picks() -> impl Strategy<Value = Vec<Pick>> {
    vec(any::<Pick>(), 0..3)
}

fn edit() -> impl Strategy<Value = Edit> {
    (
        option::of(0..6_u8),
        option::of(status()),
        option::of(0..3_u8),
        option::of(0..3_u8),
        option::of(option::of(0..2_u8)),
        option::of((0..3_u8, option::of(0..2_u8))),
    )
        .prop_map(|(content, status, active_form, description, owner, metadata)| Edit {
            content,
            status,
            active_form,
            description,
            owner,
            metadata,
        })
}

fn step() -> impl Strategy<Value = Step> {
    let update = (any::<Pick>(), edit(), [picks(), picks(), picks(), picks()], focus(), any::<bool>())
        .prop_map(|(pick, edit, edges, focus, shows_token)| Step::Update { pick, edit, edges, focus, shows_token });
    let create = (0..6_u8, status(), option::of(0..2_u8), [picks(), picks()], focus())
        .prop_map(|(content, status, owner, edges, focus)| Step::Create { content, status, owner, edges, focus });
    let claim = (0..2_u8, option::of(any::<Pick>()), 1..60_u32).prop_map(|(name, pick, lease_seconds)| Step::Claim {
        name,
        pick,
        lease_seconds,
    });
    prop_oneof![
        6 => vec((option::of(any::<Pick>()), 0..6_u8, status()), 0..6).prop_map(Step::Write),
        12 => update,
        3 => (any::<Pick>(), any::<bool>()).prop_map(|(pick, shows_token)| Step::Complete { pick, shows_token }),
        8 => create,
        3 => (any::<Pick>(), any::<bool>()).prop_map(|(pick, shows_token)| Step::Delete { pick, shows_token }),
        1 => Just(Step::Clear),
        1 => Just(Step::DeleteThread),
        4 => claim,
        1 => (any::<Pick>(), any::<bool>()).prop_map(|(pick, force)| Step::Release { pick, force }),
        1 => any::<Pick>().prop_map(|pick| Step::Heartbeat { pick }),
        1 => (0..90_i64).prop_map(|after_seconds| Step::Expire { after_seconds }),
        2 => (0..6_u8).prop_map(|back| Step::Restore { back }),
    ]
}

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

    fn picked(&self, pick: Pick) -> TaskId {
        let ids = self.story.list.ids();
        ids.get(usize::from(pick) % (ids.len() + 1)).cloned().unwrap_or_else(|| task_id("nowhere"))
    }

    fn picked_all(&self, picks: &[Pick]) -> Vec<TaskId> {
        // Mostly tasks that are there, or hardly any edge would ever be made.
        let ids = self.story.list.ids();
        picks.iter().filter_map(|pick| ids.get(usize::from(*pick) % ids.len().max(1)).cloned()).collect()
    }

    fn operation(&self, step: &Step) -> Operation {
        match step {
            Step::Write(items) => Operation::Write(
                items
                    .iter()
                    .map(|(pick, content, status)| {
                        let id = pick.map(|pick| self.picked(pick));
                        item(id.as_ref().map(TaskId::as_str), &text(*content), *status)
                    })
                    .collect(),
            ),
            Step::Update { pick, edit, edges, focus, .. } => {
                Operation::Update { id: self.picked(*pick), patch: self.patch(edit, edges), focus: *focus }
            }
            Step::Complete { pick, .. } => Operation::Complete(self.picked(*pick)),
            Step::Create { content, status, owner: name, edges: [blocks, blocked_by], focus } => {
                let draft = Draft {
                    status: *status,
                    owner: name.map(|name| owner(&text(name))),
                    blocks: self.picked_all(blocks),
                    blocked_by: self.picked_all(blocked_by),
                    ..fixture::draft(&text(*content))
                };
                Operation::Create { draft, focus: *focus }
            }
            Step::Delete { pick, .. } => Operation::Delete(self.picked(*pick)),
            Step::Clear => Operation::Clear,
            Step::DeleteThread => Operation::DeleteThread,
            Step::Claim { name, pick, lease_seconds } => Operation::Claim(Claim {
                owner: owner(&text(*name)),
                id: pick.map(|pick| self.picked(pick)),
                lease_seconds: *lease_seconds,
                metadata: Metadata::default(),
            }),
            Step::Release { pick, force } => Operation::Release { id: self.picked(*pick), force: *force },
            Step::Heartbeat { pick } => Operation::Heartbeat { id: self.picked(*pick), lease_seconds: 30 },
            Step::Expire { .. } => Operation::Expire,
            Step::Restore { back } => {
                let revision = Revision::new(self.story.list.revision().get().saturating_sub(i64::from(*back)).max(0));
                let since = self.story.changes.iter().filter(|change| change.revision > revision).cloned().collect();
                Operation::Restore { revision, since }
            }
        }
    }

    fn patch(
        &self,
        edit: &Edit,
        [add_blocks, add_blocked_by, remove_blocks, remove_blocked_by]: &[Vec<Pick>; 4],
    ) -> Patch {
        let value = |value: Option<u8>| value.map_or(Json::Null, |value| Json::Number(value.to_string().into()));
        Patch {
            content: edit.content.map(|content| Content::parse(text(content)).unwrap()),
            status: edit.status,
            active_form: edit.active_form.map(|form| ActiveForm::parse(text(form)).unwrap()),
            description: edit.description.map(|n| Description::parse("d".repeat(n.into())).unwrap()),
            owner: edit.owner.map(|name| name.map(|name| owner(&text(name)))),
            metadata: edit.metadata.map(|(key, to)| Metadata::new(vec![(text(key), value(to))])),
            add_blocks: self.picked_all(add_blocks),
            add_blocked_by: self.picked_all(add_blocked_by),
            remove_blocks: self.picked_all(remove_blocks),
            remove_blocked_by: self.picked_all(remove_blocked_by),
        }
    }

    /// The token of the task that the step is about, if the step shows it.
    fn token(&self, step: &Step) -> Option<Arc<str>> {
        match step {
            Step::Update { pick, shows_token: true, .. }
            | Step::Complete { pick, shows_token: true }
            | Step::Delete { pick, shows_token: true }
            | Step::Release { pick, .. }
            | Step::Heartbeat { pick } => {
                self.story.list.get(&self.picked(*pick))?.lease.as_ref().map(|lease| Arc::clone(&lease.token))
            }
            _ => None,
        }
    }

    /// Takes one step and checks all that must hold after it.
    fn take(&mut self, step: &Step) {
        if let Step::Expire { after_seconds } = step {
            self.story.now += TimeDelta::seconds(*after_seconds);
        }
        let (operation, token) = (self.operation(step), self.token(step));
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

fn text(n: u8) -> String {
    char::from(b'a' + n).to_string()
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
        ids in vec(option::of(any::<Pick>()), 6),
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.take(step);
        }
        let items = ids.into_iter().zip(contents).map(|(id, content)| (id, content, Status::Pending)).collect();
        let write = run.operation(&Step::Write(items));
        if run.story.attempt(&write, None).is_ok() {
            let again = run.story.attempt(&write, None).unwrap();
            prop_assert_eq!(again.change, None);
        }
    }
}
