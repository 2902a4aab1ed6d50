//! Making a list what it was at an earlier revision.

use std::sync::Arc;

use super::change::{Change, replayed_back};
use super::list::TaskList;
use super::refusal::Refusal;
use super::sketch::Sketch;
use super::task::{Revision, Task};

/// Undoes every change since the revision: ids, creation times, edges and order come back, leases end, counters stay.
pub(super) fn restore(
    sketch: &mut Sketch,
    list: &TaskList,
    revision: Revision,
    since: &[Change],
) -> Result<(), Refusal> {
    if revision > list.revision {
        return Err(Refusal::FutureRevision { revision, newest: list.revision });
    }
    if let Some(deleted) = list.deleted_at_revision
        && revision < deleted
    {
        return Err(Refusal::RevisionNotKept { revision, oldest: deleted });
    }
    let mut earlier = list.tasks.to_vec();
    let mut at = list.revision;
    for change in since.iter().rev() {
        // A hole means that retention or a deletion took a change away, and with it the way back.
        if change.revision != at {
            break;
        }
        earlier = replayed_back(&earlier, &change.ops);
        at = at.previous();
    }
    if at != revision {
        return Err(Refusal::RevisionNotKept { revision, oldest: at });
    }
    sketch.tasks = earlier.into_iter().map(|task| without_lease(list, task)).collect();
    Ok(())
}

fn without_lease(list: &TaskList, mut task: Arc<Task>) -> Arc<Task> {
    if task.lease.is_some() {
        Arc::make_mut(&mut task).lease = None;
    }
    match list.get(&task.id) {
        Some(now) if now.reads_like(&task) && same_blockers(now, &task) => Arc::clone(now),
        _ => task,
    }
}

fn same_blockers(one: &Task, other: &Task) -> bool {
    one.blockers.len() == other.blockers.len() && one.blockers.iter().all(|id| other.blockers.contains(id))
}

#[cfg(test)]
mod tests {
    use crate::domain::fixture::{Story, blocked_by, claim, create, task_id, write};
    use crate::domain::{Change, Operation, Refusal, Revision, TaskList};

    fn restore(story: &Story, revision: i64) -> Operation {
        let since: Vec<Change> =
            story.changes.iter().filter(|change| change.revision > Revision::new(revision)).cloned().collect();
        Operation::Restore { revision: Revision::new(revision), since }
    }

    fn representation(list: &TaskList) -> Vec<String> {
        list.views()
            .iter()
            .map(|view| format!("{:?} {:?} {:?}", view.task.content, view.blocks, view.blocked_by))
            .collect()
    }

    #[test]
    fn a_list_becomes_what_it_was_and_the_restore_can_be_undone() {
        let mut story = Story::new();
        story.run(&write(&["a", "b", "c"]));
        story.run(&blocked_by("c", &["a"]));
        let then = representation(&story.list);
        story.run(&write(&["c", "d", "b"]));
        story.run(&Operation::Complete(task_id("d")));
        let later = representation(&story.list);

        let restored = restore(&story, 2);
        let undone = story.run(&restored);
        assert_eq!(representation(&story.list), then);
        assert_eq!(story.list.revision(), Revision::new(5));
        assert_eq!(undone.outcome.removed.len(), 1);
        let back = restore(&story, 4);
        story.run(&back);
        assert_eq!(representation(&story.list), later);
        let same = restore(&story, 4);
        assert_eq!(story.run(&same).change, None);
    }

    #[test]
    fn leases_end_and_numbers_stay() {
        let mut story = Story::new();
        story.run(&create("x"));
        story.run(&claim("w", None));
        story.run(&create("y"));
        story.run(&Operation::Delete(task_id("2")));
        let restored = restore(&story, 2);
        story.run(&restored);
        assert_eq!(story.list.first_lease_expiry(), None);
        story.run(&create("z"));
        assert_eq!(story.ids(), ["1", "3"]);
    }

    #[test]
    fn what_is_not_kept_or_not_yet_there_is_refused() {
        let mut story = Story::new();
        story.run(&write(&["a"]));
        story.run(&write(&["b"]));
        let (revision, newest) = (Revision::new(3), Revision::new(2));
        let future = restore(&story, 3);
        assert_eq!(story.refused(&future), Refusal::FutureRevision { revision, newest });
        let forgotten = story.changes.remove(0);
        assert_eq!(forgotten.revision, Revision::new(1));
        let too_old = restore(&story, 0);
        let oldest = Revision::new(1);
        assert_eq!(story.refused(&too_old), Refusal::RevisionNotKept { revision: Revision::default(), oldest });
        story.run(&Operation::DeleteThread);
        let deleted = restore(&story, 2);
        let oldest = Revision::new(3);
        assert_eq!(story.refused(&deleted), Refusal::RevisionNotKept { revision: newest, oldest });
    }
}
