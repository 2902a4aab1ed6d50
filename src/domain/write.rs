//! The whole-list write: the caller's items replace the list, surviving ids keep what the caller's dialect cannot say, and
//! tasks that somebody holds stay as they are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::dependencies::drop_dangling_edges;
use super::edit::check_focus;
use super::ids::TaskId;
use super::json::Metadata;
use super::minting::assigned_ids;
use super::operation::Item;
use super::refusal::Refusal;
use super::sketch::Sketch;
use super::task::{Description, Moment, Revision, Status, Task, Version};

pub(super) fn write(sketch: &mut Sketch, items: &[Item]) -> Result<(), Refusal> {
    let ids = assigned_ids(&sketch.tasks, items);
    let previous: HashMap<&TaskId, &Arc<Task>> = sketch.tasks.iter().map(|task| (&task.id, task)).collect();
    let mut tasks: Vec<Arc<Task>> = ids
        .iter()
        .zip(items)
        .map(|(id, item)| match previous.get(id) {
            Some(task) => rewritten(task, item, sketch.at),
            None => Arc::new(begun(id, item, sketch.at)),
        })
        .collect();
    let named: HashSet<&TaskId> = ids.iter().collect();
    tasks.extend(sketch.tasks.iter().filter(|task| task.lease.is_some() && !named.contains(&task.id)).cloned());
    drop_dangling_edges(&mut tasks);
    sketch.outcome.held = tasks.iter().filter(|task| task.lease.is_some()).map(|task| task.id.clone()).collect();
    sketch.tasks = tasks;
    check_focus(&sketch.tasks)
}

fn rewritten(task: &Arc<Task>, item: &Item, at: Moment) -> Arc<Task> {
    let mut rewritten = Arc::clone(task);
    if task.lease.is_some() {
        return rewritten;
    }
    if task.content != item.content
        || task.status != item.status
        || task.active_form.as_ref() != Some(&item.active_form)
    {
        let task = Arc::make_mut(&mut rewritten);
        task.content = item.content.clone();
        task.active_form = Some(item.active_form.clone());
        task.set_status(item.status, at);
    }
    rewritten
}

fn begun(id: &TaskId, item: &Item, at: Moment) -> Task {
    Task {
        id: id.clone(),
        position: 0,
        content: item.content.clone(),
        status: item.status,
        active_form: Some(item.active_form.clone()),
        description: Description::default(),
        owner: None,
        metadata: Metadata::default(),
        blockers: Vec::new(),
        lease: None,
        created_at: at,
        updated_at: at,
        completed_at: (item.status == Status::Completed).then_some(at),
        revision: Revision::default(),
        change_id: Version::default(),
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::fixture::{Story, claim, item, task_id, update, write};
    use crate::domain::{Content, Operation, Patch, Status};

    #[test]
    fn a_new_task_does_not_get_the_id_of_one_that_somebody_holds() {
        let mut story = Story::new();
        story.run(&Operation::Write(vec![item(None, "b", Status::Pending)]));
        story.run(&claim("w", Some("task_b")));
        let renamed = Content::parse("something else").unwrap();
        story.run(&update("task_b", Patch { content: Some(renamed), ..Patch::default() }));
        story.run(&Operation::Write(vec![item(None, "b", Status::Pending)]));
        assert_eq!(story.ids(), ["task_b_2", "task_b"]);
        assert_eq!(story.status("task_b"), Status::InProgress);
        story.run(&write(&["task_b"]));
        assert_eq!(story.list.get(&task_id("task_b")).unwrap().content.as_str(), "something else");
    }
}
