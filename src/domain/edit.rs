//! The operations on single tasks: create, update, complete, delete.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::dependencies::{cycle_through, drop_dangling_edges};
use super::ids::{Owner, TaskId};
use super::json::Metadata;
use super::limits::Limits;
use super::operation::{Draft, Focus, Patch};
use super::refusal::Refusal;
use super::sketch::Sketch;
use super::task::{Description, Revision, Status, Task, Version};

pub(super) fn create(sketch: &mut Sketch, draft: &Draft, focus: Focus, limits: &Limits) -> Result<(), Refusal> {
    check_description(&draft.description, limits)?;
    check_metadata(&draft.metadata, limits)?;
    let id = match &draft.id {
        Some(id) if sketch.get(id).is_some() => return Err(Refusal::TaskExists { id: id.clone() }),
        Some(id) => id.clone(),
        None => next_number(sketch),
    };
    sketch.tasks.push(Arc::new(Task {
        id: id.clone(),
        position: 0,
        content: draft.content.clone(),
        status: draft.status,
        active_form: draft.active_form.clone(),
        description: draft.description.clone(),
        owner: draft.owner.clone(),
        metadata: draft.metadata.clone(),
        blockers: Vec::new(),
        lease: None,
        created_at: sketch.at,
        updated_at: sketch.at,
        completed_at: (draft.status == Status::Completed).then_some(sketch.at),
        revision: Revision::default(),
        change_id: Version::default(),
    }));
    link_all(sketch, &id, &draft.blocks, Side::Blocks)?;
    link_all(sketch, &id, &draft.blocked_by, Side::BlockedBy)?;
    check_acyclic(sketch, &id, &draft.blocks)?;
    sketch.outcome.task = Some(id);
    match focus {
        Focus::One if draft.status == Status::InProgress => check_focus_of(&sketch.tasks, draft.owner.as_ref()),
        Focus::One | Focus::Many => Ok(()),
    }
}

/// Takes the list's next number as id. A number that was given once is never given again.
fn next_number(sketch: &mut Sketch) -> TaskId {
    let taken: HashSet<&str> = sketch.tasks.iter().map(|task| task.id.as_str()).collect();
    let mut number = sketch.counters.next_number;
    while taken.contains(number.to_string().as_str()) {
        number += 1;
    }
    sketch.counters.next_number = number + 1;
    TaskId::minted(&number.to_string())
}

pub(super) fn update(
    sketch: &mut Sketch,
    id: &TaskId,
    patch: &Patch,
    focus: Focus,
    limits: &Limits,
) -> Result<(), Refusal> {
    sketch.outcome.task = Some(id.clone());
    if let Some(description) = &patch.description {
        check_description(description, limits)?;
    }
    if let Some(metadata) = &patch.metadata {
        check_metadata(metadata, limits)?;
    }
    let task = sketch.edit(id)?;
    if let Some(content) = &patch.content {
        task.content = content.clone();
    }
    if let Some(description) = &patch.description {
        task.description = description.clone();
    }
    if let Some(active_form) = &patch.active_form {
        task.active_form = Some(active_form.clone());
    }
    update_edges(sketch, id, patch)?;

    let at = sketch.at;
    let task = sketch.edit(id)?;
    if let Some(status) = patch.status {
        task.set_status(status, at);
    }
    if let Some(owner) = &patch.owner {
        if task.owner != *owner {
            task.lease = None;
        }
        task.owner.clone_from(owner);
    }
    if let Some(metadata) = &patch.metadata {
        task.metadata = task.metadata.merged(metadata);
        check_metadata(&task.metadata, limits)?;
    }
    if focus == Focus::One {
        put_others_back(sketch, id)?;
    }
    Ok(())
}

fn update_edges(sketch: &mut Sketch, id: &TaskId, patch: &Patch) -> Result<(), Refusal> {
    sketch.outcome.edges.add_blocks = link_all(sketch, id, &patch.add_blocks, Side::Blocks)?;
    sketch.outcome.edges.add_blocked_by = link_all(sketch, id, &patch.add_blocked_by, Side::BlockedBy)?;
    sketch.outcome.edges.remove_blocks = unlink_all(sketch, id, &patch.remove_blocks, Side::Blocks);
    sketch.outcome.edges.remove_blocked_by = unlink_all(sketch, id, &patch.remove_blocked_by, Side::BlockedBy);
    if sketch.outcome.edges.add_blocks || sketch.outcome.edges.add_blocked_by {
        check_acyclic(sketch, id, &patch.add_blocks)?;
    }
    Ok(())
}

pub(super) fn complete(sketch: &mut Sketch, id: &TaskId) -> Result<(), Refusal> {
    let at = sketch.at;
    sketch.outcome.task = Some(id.clone());
    sketch.edit(id)?.set_status(Status::Completed, at);
    Ok(())
}

pub(super) fn delete(sketch: &mut Sketch, id: &TaskId) -> Result<(), Refusal> {
    if sketch.get(id).is_none() {
        return Err(Refusal::UnknownTask { id: id.clone(), available: sketch.ids() });
    }
    sketch.outcome.task = Some(id.clone());
    sketch.tasks.retain(|task| task.id != *id);
    drop_dangling_edges(&mut sketch.tasks);
    Ok(())
}

/// From which end an edge is named.
#[derive(Clone, Copy)]
enum Side {
    Blocks,
    BlockedBy,
}

/// Adds edges between a task and others; tells whether any was new.
fn link_all(sketch: &mut Sketch, id: &TaskId, others: &[TaskId], side: Side) -> Result<bool, Refusal> {
    let mut any = false;
    for other in others {
        if other == id {
            return Err(Refusal::SelfDependency { id: id.clone() });
        }
        let (blocker, blocked) = match side {
            Side::Blocks => (id, other),
            Side::BlockedBy => (other, id),
        };
        if sketch.get(other).is_none() {
            return Err(Refusal::UnknownDependency { id: id.clone(), unknown: other.clone(), available: sketch.ids() });
        }
        let task = sketch.edit(blocked)?;
        if !task.blockers.contains(blocker) {
            task.blockers.push(blocker.clone());
            any = true;
        }
    }
    Ok(any)
}

/// Removes edges between a task and others; tells whether any was there. An edge that is not there is nothing.
fn unlink_all(sketch: &mut Sketch, id: &TaskId, others: &[TaskId], side: Side) -> bool {
    let mut any = false;
    for other in others {
        let (blocker, blocked) = match side {
            Side::Blocks => (id, other),
            Side::BlockedBy => (other, id),
        };
        if sketch.get(blocked).is_some_and(|task| task.blockers.contains(blocker))
            && let Ok(task) = sketch.edit(blocked)
        {
            task.blockers.retain(|have| have != blocker);
            any = true;
        }
    }
    any
}

/// Refuses a cycle through a task that got edges, naming that one of the cycle's two edges at it which is new.
fn check_acyclic(sketch: &Sketch, id: &TaskId, asked_blocks: &[TaskId]) -> Result<(), Refusal> {
    let Some(path) = cycle_through(&sketch.tasks, id) else { return Ok(()) };
    let (blocker, blocked) = match path.as_slice() {
        [_, next, ..] if asked_blocks.contains(next) => (id, next),
        [.., last, _] => (last, id),
        _ => (id, id),
    };
    Err(Refusal::Cycle { blocker: blocker.clone(), blocked: blocked.clone(), path })
}

/// Refuses a list in which an owner has several tasks in progress.
pub(super) fn check_focus(tasks: &[Arc<Task>]) -> Result<(), Refusal> {
    let mut busy: HashMap<Option<&Owner>, usize> = HashMap::new();
    for task in tasks.iter().filter(|task| task.occupies_owner()) {
        *busy.entry(task.owner.as_ref()).or_default() += 1;
    }
    // The first offender in list order, so that the same call is refused with the same words each time.
    match tasks.iter().find(|task| busy.get(&task.owner.as_ref()).is_some_and(|count| *count > 1)) {
        Some(task) => check_focus_of(tasks, task.owner.as_ref()),
        None => Ok(()),
    }
}

fn check_focus_of(tasks: &[Arc<Task>], owner: Option<&Owner>) -> Result<(), Refusal> {
    let busy: Vec<&Arc<Task>> =
        tasks.iter().filter(|task| task.occupies_owner() && task.owner.as_ref() == owner).collect();
    if busy.len() < 2 {
        return Ok(());
    }
    Err(Refusal::SeveralInProgress {
        owner: owner.cloned(),
        tasks: busy.iter().map(|task| task.content.clone()).collect(),
    })
}

/// Leaves the updated task's owner one task in progress: the updated one if it is, else the last one.
fn put_others_back(sketch: &mut Sketch, id: &TaskId) -> Result<(), Refusal> {
    let owner = sketch.edit(id)?.owner.clone();
    let busy: Vec<TaskId> = sketch
        .tasks
        .iter()
        .filter(|task| task.occupies_owner() && task.owner == owner)
        .map(|task| task.id.clone())
        .collect();
    let keeps = if busy.contains(id) { Some(id) } else { busy.last() };
    for other in busy.iter().filter(|other| Some(*other) != keeps) {
        let at = sketch.at;
        sketch.edit(other)?.set_status(Status::Pending, at);
        sketch.outcome.put_back.push(other.clone());
    }
    Ok(())
}

fn check_description(description: &Description, limits: &Limits) -> Result<(), Refusal> {
    let (bytes, bytes_max) = (description.as_str().len(), limits.description_bytes_max);
    if bytes > bytes_max { Err(Refusal::DescriptionTooLarge { bytes, bytes_max }) } else { Ok(()) }
}

fn check_metadata(metadata: &Metadata, limits: &Limits) -> Result<(), Refusal> {
    let (bytes, bytes_max) = (metadata.size_bytes(), limits.metadata_bytes_max);
    if bytes > bytes_max {
        return Err(Refusal::MetadataTooLarge { bytes, bytes_max });
    }
    let (levels, levels_max) = (metadata.levels(), limits.metadata_levels_max);
    if levels > levels_max { Err(Refusal::MetadataTooDeep { levels, levels_max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixture::{Story, blocked_by, create, draft, ids, item, owner, task_id, update, write};
    use crate::domain::{Content, Operation, Revision};

    fn revision_of(story: &Story, id: &str) -> i64 {
        story.list.get(&task_id(id)).unwrap().revision.get()
    }

    fn begin(id: &str) -> Operation {
        let patch = Patch { status: Some(Status::InProgress), ..Patch::default() };
        Operation::Update { id: task_id(id), patch, focus: Focus::One }
    }

    #[test]
    fn numbers_skip_ids_that_are_there_and_never_come_back() {
        let mut story = Story::new();
        story.run(&create("x"));
        story.run(&Operation::Create { draft: Draft { id: Some(task_id("2")), ..draft("y") }, focus: Focus::One });
        story.run(&create("z"));
        assert_eq!(story.ids(), ["1", "2", "3"]);
        story.run(&Operation::Delete(task_id("3")));
        story.run(&Operation::DeleteThread);
        story.run(&create("w"));
        assert_eq!(story.ids(), ["4"]);
    }

    #[test]
    fn an_owner_keeps_one_task_in_progress() {
        let mut story = Story::new();
        story.run(&write(&["a", "b", "c"]));
        story.run(&begin("a"));
        assert_eq!(story.run(&begin("b")).outcome.put_back, ids(&["a"]));
        story.run(&update("c", Patch { owner: Some(Some(owner("me"))), ..Patch::default() }));
        assert_eq!(story.run(&begin("c")).outcome.put_back, []);
        let second = Draft { status: Status::InProgress, ..draft("d") };
        let refusal = story.refused(&Operation::Create { draft: second.clone(), focus: Focus::One });
        let tasks = vec![Content::parse("b").unwrap(), Content::parse("d").unwrap()];
        assert_eq!(refusal, Refusal::SeveralInProgress { owner: None, tasks });
        story.run(&Operation::Create { draft: second, focus: Focus::Many });
    }

    #[test]
    fn a_change_to_one_task_moves_the_revision_of_those_that_read_differently() {
        let mut story = Story::new();
        story.run(&write(&["a", "b", "c"]));
        story.run(&blocked_by("b", &["a"]));
        assert_eq!((revision_of(&story, "a"), revision_of(&story, "b"), revision_of(&story, "c")), (2, 2, 1));
        let completed = story.run(&Operation::Complete(task_id("a")));
        assert_eq!(completed.outcome.unblocked, ids(&["b"]));
        assert_eq!((revision_of(&story, "a"), revision_of(&story, "b"), revision_of(&story, "c")), (3, 3, 1));
        assert_eq!(story.run(&Operation::Complete(task_id("a"))).change, None);
        assert_eq!(story.list.revision(), Revision::new(3));
    }

    #[test]
    fn bad_edges_refuse_the_whole_call_and_name_the_path() {
        let mut story = Story::new();
        story.run(&write(&["a", "b", "c"]));
        story.run(&blocked_by("b", &["a"]));
        story.run(&blocked_by("c", &["b"]));
        story.run(&Operation::Complete(task_id("c")));
        let path = ids(&["a", "b", "c", "a"]);
        let cycle = Refusal::Cycle { blocker: task_id("c"), blocked: task_id("a"), path };
        assert_eq!(story.refused(&blocked_by("a", &["c"])), cycle);
        assert_eq!(story.refused(&blocked_by("a", &["a"])), Refusal::SelfDependency { id: task_id("a") });
        assert!(matches!(story.refused(&blocked_by("a", &["z"])), Refusal::UnknownDependency { .. }));
        let turned = Patch { add_blocked_by: ids(&["c"]), remove_blocks: ids(&["b"]), ..Patch::default() };
        story.run(&update("a", turned));
        assert_eq!(story.list.view(&task_id("c")).unwrap().blocks, ids(&["a"]));
    }

    #[test]
    fn edges_of_a_deleted_task_are_gone_for_good() {
        let mut story = Story::new();
        story.run(&write(&["a", "b"]));
        story.run(&blocked_by("b", &["a"]));
        assert_eq!(story.run(&Operation::Delete(task_id("a"))).outcome.unblocked, ids(&["b"]));
        story.run(&write(&["a", "b"]));
        assert_eq!(story.list.view(&task_id("b")).unwrap().blocked_by, []);
    }

    #[test]
    fn a_rewrite_keeps_what_the_dialect_cannot_say() {
        let mut story = Story::new();
        story.run(&write(&["a", "b"]));
        story.run(&blocked_by("b", &["a"]));
        let description = Some(Description::parse("why").unwrap());
        story.run(&update("b", Patch { description, owner: Some(Some(owner("me"))), ..Patch::default() }));
        let items = vec![item(Some("b"), "b!", Status::InProgress), item(Some("a"), "a", Status::Pending)];
        story.run(&Operation::Write(items));
        let view = story.list.view(&task_id("b")).unwrap();
        assert_eq!((view.task.description.as_str(), view.task.owner.clone()), ("why", Some(owner("me"))));
        assert_eq!(view.blocked_by, ids(&["a"]));
        assert_eq!(story.ids(), ["b", "a"]);
        assert_eq!(revision_of(&story, "a"), 2);
    }

    #[test]
    fn bounds_refuse_growth_but_let_an_overgrown_list_shrink() {
        let mut story = Story::new();
        story.run(&write(&["a", "b", "c"]));
        story.limits.tasks_max = 2;
        assert_eq!(story.refused(&create("d")), Refusal::TooManyTasks { tasks: 4, tasks_max: 2 });
        story.run(&Operation::Complete(task_id("a")));
        story.limits.list_bytes_max = 10;
        story.run(&Operation::Delete(task_id("a")));
        let long = Content::parse("x".repeat(30)).unwrap();
        let refusal = story.refused(&update("b", Patch { content: Some(long), ..Patch::default() }));
        assert!(matches!(refusal, Refusal::ListTooLarge { bytes_max: 10, .. }));
    }
}
