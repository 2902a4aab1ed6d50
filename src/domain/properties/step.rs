//! The steps of random stories.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::domain::fixture::{Story, draft, item, owner, task_id};
use crate::domain::*;

/// A task of the list as it will be by then, or one that is not in it.
pub(super) type Pick = u8;

/// One step of a story. Tasks are picked by number, since only the run knows which there are.
#[derive(Debug, Clone)]
pub(super) enum Step {
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
pub(super) struct Edit {
    content: Option<u8>,
    status: Option<Status>,
    active_form: Option<u8>,
    description: Option<u8>,
    #[expect(clippy::option_option, reason = "not given, given back, and given are three things")]
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

pub(super) fn step() -> impl Strategy<Value = Step> {
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

impl Step {
    /// The operation that the step is, for the list as it is now.
    pub(super) fn operation(&self, story: &Story) -> Operation {
        match self {
            Step::Write(items) => Operation::Write(
                items
                    .iter()
                    .map(|(pick, content, status)| {
                        let id = pick.map(|pick| picked(story, pick));
                        item(id.as_ref().map(TaskId::as_str), &text(*content), *status)
                    })
                    .collect(),
            ),
            Step::Update { pick, edit, edges, focus, .. } => {
                Operation::Update { id: picked(story, *pick), patch: patch(story, edit, edges), focus: *focus }
            }
            Step::Complete { pick, .. } => Operation::Complete(picked(story, *pick)),
            Step::Create { content, status, owner: name, edges: [blocks, blocked_by], focus } => {
                let draft = Draft {
                    status: *status,
                    owner: name.map(|name| owner(&text(name))),
                    blocks: picked_all(story, blocks),
                    blocked_by: picked_all(story, blocked_by),
                    ..draft(&text(*content))
                };
                Operation::Create { draft, focus: *focus }
            }
            Step::Delete { pick, .. } => Operation::Delete(picked(story, *pick)),
            Step::Clear => Operation::Clear,
            Step::DeleteThread => Operation::DeleteThread,
            Step::Claim { name, pick, lease_seconds } => Operation::Claim(Claim {
                owner: owner(&text(*name)),
                id: pick.map(|pick| picked(story, pick)),
                lease_seconds: *lease_seconds,
                metadata: Metadata::default(),
            }),
            Step::Release { pick, force } => Operation::Release { id: picked(story, *pick), force: *force },
            Step::Heartbeat { pick } => Operation::Heartbeat { id: picked(story, *pick), lease_seconds: 30 },
            Step::Expire { .. } => Operation::Expire,
            Step::Restore { back } => {
                let revision = Revision::new(story.list.revision().get().saturating_sub(i64::from(*back)).max(0));
                let since = story.changes.iter().filter(|change| change.revision > revision).cloned().collect();
                Operation::Restore { revision, since }
            }
        }
    }

    /// The token of the task that the step is about, if the step shows it.
    pub(super) fn token(&self, story: &Story) -> Option<Arc<str>> {
        match self {
            Step::Update { pick, shows_token: true, .. }
            | Step::Complete { pick, shows_token: true }
            | Step::Delete { pick, shows_token: true }
            | Step::Release { pick, .. }
            | Step::Heartbeat { pick } => {
                story.list.get(&picked(story, *pick))?.lease.as_ref().map(|lease| Arc::clone(&lease.token))
            }
            _ => None,
        }
    }
}

fn picked(story: &Story, pick: Pick) -> TaskId {
    let ids = story.list.ids();
    ids.get(usize::from(pick) % (ids.len() + 1)).cloned().unwrap_or_else(|| task_id("nowhere"))
}

fn picked_all(story: &Story, picks: &[Pick]) -> Vec<TaskId> {
    // Mostly tasks that are there, or hardly any edge would ever be made.
    let ids = story.list.ids();
    picks.iter().filter_map(|pick| ids.get(usize::from(*pick) % ids.len().max(1)).cloned()).collect()
}

fn patch(
    story: &Story,
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
        add_blocks: picked_all(story, add_blocks),
        add_blocked_by: picked_all(story, add_blocked_by),
        remove_blocks: picked_all(story, remove_blocks),
        remove_blocked_by: picked_all(story, remove_blocked_by),
    }
}

fn text(n: u8) -> String {
    char::from(b'a' + n).to_string()
}
