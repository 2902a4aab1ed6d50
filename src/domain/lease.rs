//! Holding a task for a while: who has it, with which token, and until when.
//!
//! A lease protects its task against single-task changes of status or owner and against deletion. Its token is compared
//! whole, so that whoever comes back late with an old one cannot touch what somebody else holds now.

use std::sync::Arc;

use chrono::TimeDelta;

use super::ids::{Owner, TaskId};
use super::list::TaskList;
use super::operation::{Claim, Operation};
use super::refusal::Refusal;
use super::sketch::{Sketch, Stamp};
use super::task::{Lease, Moment, Status, Task};
use super::view::TaskView;

/// Refuses an operation on one task that needs a token which the call does not show.
pub(super) fn check_token(list: &TaskList, operation: &Operation, stamp: &Stamp) -> Result<(), Refusal> {
    let (id, needs_token) = match operation {
        Operation::Update { id, patch, .. } => {
            let changes = list.get(id).is_some_and(|task| {
                patch.status.is_some_and(|status| status != task.status)
                    || patch.owner.as_ref().is_some_and(|owner| *owner != task.owner)
            });
            (id, changes)
        }
        Operation::Complete(id) | Operation::Delete(id) => (id, true),
        Operation::Heartbeat { id, .. } | Operation::Release { id, force: false } => {
            if stamp.token.is_none() && list.get(id).is_some_and(|task| task.lease.is_none()) {
                return Err(Refusal::NotClaimed { id: id.clone() });
            }
            (id, true)
        }
        Operation::Write(_)
        | Operation::Create { .. }
        | Operation::Clear
        | Operation::DeleteThread
        | Operation::Claim(_)
        | Operation::Release { force: true, .. }
        | Operation::Expire
        | Operation::Restore { .. } => return Ok(()),
    };
    let Some(task) = list.get(id) else { return Ok(()) };
    match (&task.lease, &stamp.token) {
        (Some(lease), Some(token)) if lease.token == *token => Ok(()),
        (Some(lease), None) if needs_token => Err(held(task, Some(lease.expires_at))),
        (Some(lease), Some(_)) => Err(held(task, Some(lease.expires_at))),
        (None, Some(_)) => Err(Refusal::LeaseEnded { id: id.clone() }),
        (Some(_) | None, None) => Ok(()),
    }
}

pub(super) fn claim(sketch: &mut Sketch, claim: &Claim, stamp: &Stamp) -> Result<(), Refusal> {
    let view = match &claim.id {
        Some(id) => match sketch.view(id)? {
            view if is_held_by(&view.task, &claim.owner) => {
                sketch.outcome.task = Some(id.clone());
                return Ok(());
            }
            view => view,
        },
        None => match sketch.views().into_iter().find(|view| view.is_ready() && matches_metadata(&view.task, claim)) {
            Some(view) => view,
            None => return Ok(()),
        },
    };
    check_claimable(&view, claim)?;
    sketch.counters.leases += 1;
    let token = format!("{}-{:016x}", sketch.counters.leases, stamp.secret);
    let lease = Lease { token: token.into(), expires_at: lease_end(stamp.store_at, claim.lease_seconds) };
    let at = sketch.at;
    let task = sketch.edit(&view.task.id)?;
    task.set_status(Status::InProgress, at);
    task.owner = Some(claim.owner.clone());
    task.lease = Some(lease);
    sketch.outcome.task = Some(view.task.id.clone());
    Ok(())
}

fn check_claimable(view: &TaskView, claim: &Claim) -> Result<(), Refusal> {
    let task = &view.task;
    if task.status == Status::Completed {
        return Err(Refusal::AlreadyCompleted { id: task.id.clone() });
    }
    if task.lease.is_some() || task.owner.as_ref().is_some_and(|owner| *owner != claim.owner) {
        return Err(held(task, task.lease.as_ref().map(|lease| lease.expires_at)));
    }
    if !view.blocked_by.is_empty() {
        return Err(Refusal::Blocked { id: task.id.clone(), blockers: view.blocked_by.clone() });
    }
    Ok(())
}

fn is_held_by(task: &Task, owner: &Owner) -> bool {
    task.lease.is_some() && task.owner.as_ref() == Some(owner)
}

fn matches_metadata(task: &Task, claim: &Claim) -> bool {
    claim.metadata.members().iter().all(|(key, value)| task.metadata.get(key) == Some(value))
}

fn held(task: &Task, expires_at: Option<Moment>) -> Refusal {
    match &task.owner {
        Some(holder) => Refusal::Held { id: task.id.clone(), holder: holder.clone(), expires_at },
        None => Refusal::LeaseEnded { id: task.id.clone() },
    }
}

fn lease_end(from: Moment, seconds: u32) -> Moment {
    from.checked_add_signed(TimeDelta::seconds(i64::from(seconds))).unwrap_or(Moment::MAX_UTC)
}

pub(super) fn release(sketch: &mut Sketch, id: &TaskId) -> Result<(), Refusal> {
    let at = sketch.at;
    let task = sketch.edit(id)?;
    if task.status == Status::Completed {
        return Err(Refusal::AlreadyCompleted { id: id.clone() });
    }
    give_back(task, at);
    sketch.outcome.task = Some(id.clone());
    Ok(())
}

fn give_back(task: &mut Task, at: Moment) {
    task.set_status(Status::Pending, at);
    task.owner = None;
}

/// Holds the task for `lease_seconds` from now on. No reader sees a difference.
pub(super) fn extend(sketch: &mut Sketch, id: &TaskId, lease_seconds: u32, stamp: &Stamp) -> Result<(), Refusal> {
    let task = sketch.edit(id)?;
    match &mut task.lease {
        Some(lease) => lease.expires_at = lease_end(stamp.store_at, lease_seconds),
        None => return Err(Refusal::LeaseEnded { id: id.clone() }),
    }
    sketch.outcome.task = Some(id.clone());
    Ok(())
}

pub(super) fn expire(sketch: &mut Sketch, store_at: Moment) {
    let at = sketch.at;
    for task in &mut sketch.tasks {
        if task.lease.as_ref().is_some_and(|lease| lease.expires_at <= store_at) {
            give_back(Arc::make_mut(task), at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixture::{Story, blocked_by, claim, create, owner, task_id, update, write};
    use crate::domain::{Patch, Status};

    fn complete(id: &str) -> Operation {
        Operation::Complete(task_id(id))
    }

    #[test]
    fn the_first_ready_task_is_taken_and_nothing_ready_is_no_change() {
        let mut story = Story::new();
        story.run(&write(&["a", "b"]));
        story.run(&blocked_by("a", &["b"]));
        assert_eq!(story.run(&claim("w", None)).outcome.task, Some(task_id("b")));
        let nothing = story.run(&claim("x", None));
        assert_eq!((nothing.outcome.task, nothing.change), (None, None));
        assert_eq!(story.status("b"), Status::InProgress);
    }

    #[test]
    fn a_held_task_needs_its_token() {
        let mut story = Story::new();
        story.run(&write(&["a"]));
        story.run(&claim("w", Some("a")));
        let token = story.token("a");
        assert!(token.starts_with("1-"));
        for operation in [
            complete("a"),
            Operation::Delete(task_id("a")),
            update("a", Patch { status: Some(Status::Pending), ..Patch::default() }),
            update("a", Patch { owner: Some(None), ..Patch::default() }),
            claim("x", Some("a")),
        ] {
            let refusal = story.refused(&operation);
            assert!(matches!(refusal, Refusal::Held { holder, .. } if holder == owner("w")), "{operation:?}");
        }
        let description = super::super::Description::parse("more").unwrap();
        story.run(&update("a", Patch { description: Some(description), ..Patch::default() }));
        story.attempt(&complete("a"), Some(&token)).unwrap();
        assert_eq!(story.status("a"), Status::Completed);
        assert_eq!(story.list.first_lease_expiry(), None);
    }

    #[test]
    fn claiming_again_as_the_holder_is_the_same_claim() {
        let mut story = Story::new();
        story.run(&write(&["a"]));
        story.run(&claim("w", Some("a")));
        let (token, revision) = (story.token("a"), story.list.revision());
        let again = story.run(&claim("w", Some("a")));
        assert_eq!((again.outcome.task, again.change), (Some(task_id("a")), None));
        assert_eq!((story.token("a"), story.list.revision()), (token, revision));
    }

    #[test]
    fn an_old_token_is_refused_whoever_holds_the_task_now() {
        let mut story = Story::new();
        story.run(&write(&["a"]));
        story.run(&claim("w", Some("a")));
        let old = story.token("a");
        story.now += TimeDelta::seconds(60);
        story.run(&Operation::Expire);
        assert_eq!(story.status("a"), Status::Pending);
        assert_eq!(story.attempt(&complete("a"), Some(&old)).unwrap_err(), Refusal::LeaseEnded { id: task_id("a") });
        story.run(&claim("x", Some("a")));
        let refusal = story.attempt(&complete("a"), Some(&old)).unwrap_err();
        assert!(matches!(refusal, Refusal::Held { holder, .. } if holder == owner("x")));
    }

    #[test]
    fn a_heartbeat_is_no_change_and_a_release_is_one() {
        let mut story = Story::new();
        story.run(&write(&["a"]));
        story.run(&claim("w", Some("a")));
        let (token, until) = (story.token("a"), story.list.first_lease_expiry());
        let heartbeat = Operation::Heartbeat { id: task_id("a"), lease_seconds: 600 };
        let kept = story.attempt(&heartbeat, Some(&token)).unwrap();
        assert_eq!(kept.change, None);
        assert!(story.list.first_lease_expiry() > until);
        let release = |force| Operation::Release { id: task_id("a"), force };
        for operation in [&heartbeat, &release(false)] {
            let refusal = story.refused(operation);
            assert!(matches!(refusal, Refusal::Held { holder, expires_at: Some(_), .. } if holder == owner("w")));
        }
        story.run(&release(true));
        for operation in [&heartbeat, &release(false)] {
            assert_eq!(story.refused(operation), Refusal::NotClaimed { id: task_id("a") });
        }
        assert_eq!(story.status("a"), Status::Pending);
        assert_eq!(story.list.get(&task_id("a")).unwrap().owner, None);
    }

    #[test]
    fn what_cannot_be_taken_is_refused_with_its_reason() {
        let mut story = Story::new();
        story.run(&write(&["a", "b", "c"]));
        story.run(&blocked_by("a", &["b"]));
        let blockers = vec![task_id("b")];
        assert_eq!(story.refused(&claim("w", Some("a"))), Refusal::Blocked { id: task_id("a"), blockers });
        story.run(&complete("b"));
        assert_eq!(story.refused(&claim("w", Some("b"))), Refusal::AlreadyCompleted { id: task_id("b") });
        story.run(&update("c", Patch { owner: Some(Some(owner("me"))), ..Patch::default() }));
        let held = Refusal::Held { id: task_id("c"), holder: owner("me"), expires_at: None };
        assert_eq!(story.refused(&claim("w", Some("c"))), held);
        assert!(matches!(story.refused(&claim("w", Some("z"))), Refusal::UnknownTask { .. }));
    }

    #[test]
    fn a_whole_list_write_leaves_held_tasks_and_a_clear_ends_their_leases() {
        let mut story = Story::new();
        story.run(&write(&["a", "b"]));
        story.run(&claim("w", Some("a")));
        let written = story.run(&write(&["b", "c"]));
        assert_eq!(story.ids(), ["b", "c", "a"]);
        assert_eq!(written.outcome.held, [task_id("a")]);
        assert_eq!(story.status("a"), Status::InProgress);
        story.run(&Operation::Clear);
        story.run(&create("d"));
        assert_eq!(story.ids(), ["1"]);
    }
}
