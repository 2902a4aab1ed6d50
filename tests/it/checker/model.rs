//! What each operation does to a list, written down a second time and apart from the service, on what readers can see.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::edges::{drop_dangling, has_cycle, link};
use super::operation::{Item, Operation, Patch, active_form};

/// A task as the rules need it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) status: String,
    /// `None` where it follows the content.
    pub(crate) active_form: Option<String>,
    pub(crate) description: String,
    pub(crate) owner: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) blockers: BTreeSet<String>,
    pub(crate) is_leased: bool,
}

/// What a lease token that a call shows is worth in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    NotShown,
    Right,
    Wrong,
}

/// What an operation needs to know besides the tasks.
pub(crate) struct Facts<'a> {
    pub(crate) token: Token,
    /// The list's revision.
    pub(crate) revision: i64,
    /// The number that a task without an id gets.
    pub(crate) next_number: i64,
    /// The tasks at an earlier revision.
    pub(crate) at: &'a dyn Fn(i64) -> Option<Vec<Task>>,
}

/// Reads tasks in the shape of REST.
pub(crate) fn tasks_of(state: &[Arc<Value>]) -> Vec<Task> {
    let text = |task: &Value, key: &str| task[key].as_str().unwrap_or_default().to_owned();
    let blocks = |task: &Value, id: &str| task["blocks"].as_array().is_some_and(|ids| ids.iter().any(|it| it == id));
    let task = |task: &Arc<Value>| {
        let id = text(task, "id");
        let blockers = state.iter().filter(|other| blocks(other, &id)).map(|other| text(other, "id")).collect();
        Task {
            blockers,
            content: text(task, "content"),
            status: text(task, "status"),
            active_form: Some(text(task, "activeForm")).filter(|form| *form != text(task, "content")),
            description: text(task, "description"),
            owner: task["owner"].as_str().map(str::to_owned),
            metadata: task["metadata"].as_object().cloned().unwrap_or_default(),
            is_leased: task.get("lease").is_some(),
            id,
        }
    };
    state.iter().map(task).collect()
}

/// Applies an operation; the code of its refusal if it is refused.
pub(crate) fn apply(operation: &Operation, tasks: &[Task], facts: &Facts<'_>) -> Result<Vec<Task>, &'static str> {
    check_token(operation, tasks, facts.token)?;
    let mut tasks = tasks.to_vec();
    match operation {
        Operation::Write(items) => tasks = written(&tasks, items)?,
        Operation::Update { id, patch, has_focus } => {
            update(&mut tasks, id, patch)?;
            if *has_focus {
                put_others_back(&mut tasks, id)?;
            }
        }
        Operation::Complete(id) => set_status(find(&mut tasks, id)?, "completed"),
        Operation::Create { id, content, blocked_by } => {
            create(&mut tasks, id.as_deref(), content, blocked_by, facts.next_number)?;
        }
        Operation::Delete(id) => {
            find(&mut tasks, id)?;
            tasks.retain(|task| task.id != *id);
            drop_dangling(&mut tasks);
        }
        Operation::Clear => tasks.clear(),
        Operation::Claim { owner, id, .. } => claim(&mut tasks, owner, id.as_deref())?,
        Operation::Release { id, .. } => {
            let task = find(&mut tasks, id)?;
            if task.status == "completed" {
                return Err("task_completed");
            }
            give_back(task);
        }
        Operation::Heartbeat(id) => drop(find(&mut tasks, id)?),
        Operation::Restore(revision) if *revision > facts.revision => return Err("future_revision"),
        Operation::Restore(revision) => {
            tasks = (facts.at)(*revision).ok_or("revision_not_kept")?;
            for task in &mut tasks {
                task.is_leased = false;
            }
        }
        Operation::ReadTask(id) => drop(find(&mut tasks, id)?),
        Operation::ReadList | Operation::ReadHistory { .. } => {}
    }
    Ok(tasks)
}

pub(crate) fn find<'a>(tasks: &'a mut [Task], id: &str) -> Result<&'a mut Task, &'static str> {
    tasks.iter_mut().find(|task| task.id == id).ok_or("unknown_task")
}

fn check_token(operation: &Operation, tasks: &[Task], token: Token) -> Result<(), &'static str> {
    let get = |id: &str| tasks.iter().find(|task| task.id == id);
    let (id, needs_token) = match operation {
        Operation::Update { id, patch, .. } => {
            let changes = |task: &Task| {
                patch.status.is_some_and(|status| status != task.status)
                    || patch.owner.as_ref().is_some_and(|owner| *owner != task.owner)
            };
            (id, get(id).is_some_and(changes))
        }
        Operation::Complete(id) | Operation::Delete(id) => (id, true),
        Operation::Heartbeat(id) | Operation::Release { id, is_forced: false } => {
            if token == Token::NotShown && get(id).is_some_and(|task| !task.is_leased) {
                return Err("task_not_claimed");
            }
            (id, true)
        }
        _ => return Ok(()),
    };
    match (get(id).map(|task| task.is_leased), token) {
        (Some(true), Token::NotShown) if needs_token => Err("task_held"),
        (Some(true), Token::Wrong) => Err("task_held"),
        (Some(false), Token::Right | Token::Wrong) => Err("lease_ended"),
        _ => Ok(()),
    }
}

fn written(tasks: &[Task], items: &[Item]) -> Result<Vec<Task>, &'static str> {
    let mut later: Vec<Task> = Vec::new();
    for item in items {
        let mut task = match tasks.iter().find(|task| task.id == item.id) {
            Some(task) => task.clone(),
            None => begun(&item.id, &item.content),
        };
        if !task.is_leased {
            task.content.clone_from(&item.content);
            task.active_form = Some(active_form(&item.content));
            item.status.clone_into(&mut task.status);
        }
        later.push(task);
    }
    let is_named = |task: &Task| items.iter().any(|item| item.id == task.id);
    later.extend(tasks.iter().filter(|task| task.is_leased && !is_named(task)).cloned());
    drop_dangling(&mut later);
    for task in later.iter().filter(|task| is_busy(task)) {
        if later.iter().filter(|other| is_busy(other) && other.owner == task.owner).count() > 1 {
            return Err("several_in_progress");
        }
    }
    Ok(later)
}

fn begun(id: &str, content: &str) -> Task {
    Task {
        id: id.to_owned(),
        content: content.to_owned(),
        status: "pending".to_owned(),
        active_form: None,
        description: String::new(),
        owner: None,
        metadata: Map::new(),
        blockers: BTreeSet::new(),
        is_leased: false,
    }
}

fn is_busy(task: &Task) -> bool {
    task.status == "in_progress" && !task.is_leased
}

fn set_status(task: &mut Task, status: &str) {
    status.clone_into(&mut task.status);
    task.is_leased &= status == "in_progress";
}

fn give_back(task: &mut Task) {
    set_status(task, "pending");
    task.owner = None;
}

fn update(tasks: &mut [Task], id: &str, patch: &Patch) -> Result<(), &'static str> {
    let task = find(tasks, id)?;
    if let Some(content) = &patch.content {
        task.content.clone_from(content);
    }
    if let Some(description) = &patch.description {
        task.description.clone_from(description);
    }
    let edges = patch.add_blocks.iter().map(|other| (id, other.as_str(), other));
    let edges = edges.chain(patch.add_blocked_by.iter().map(|other| (other.as_str(), id, other)));
    link(tasks, id, edges)?;
    let task = find(tasks, id)?;
    task.blockers.retain(|blocker| !patch.remove_blocked_by.contains(blocker));
    if has_cycle(tasks) {
        return Err("dependency_cycle");
    }
    let task = find(tasks, id)?;
    if let Some(status) = patch.status {
        set_status(task, status);
    }
    if let Some(owner) = &patch.owner {
        task.is_leased &= task.owner == *owner;
        task.owner.clone_from(owner);
    }
    match &patch.metadata {
        Some((key, Value::Null)) => drop(task.metadata.remove(key)),
        Some((key, value)) => drop(task.metadata.insert(key.clone(), value.clone())),
        None => {}
    }
    Ok(())
}

fn put_others_back(tasks: &mut [Task], id: &str) -> Result<(), &'static str> {
    let owner = find(tasks, id)?.owner.clone();
    let is_one = |task: &Task| is_busy(task) && task.owner == owner;
    let last = tasks.iter().rfind(|task| is_one(task)).map(|task| task.id.clone());
    let keeps = if tasks.iter().any(|task| task.id == id && is_one(task)) { Some(id.to_owned()) } else { last };
    for task in tasks.iter_mut().filter(|task| is_one(task) && Some(&task.id) != keeps.as_ref()) {
        set_status(task, "pending");
    }
    Ok(())
}

fn create(
    tasks: &mut Vec<Task>,
    id: Option<&str>,
    content: &str,
    blocked_by: &[String],
    next_number: i64,
) -> Result<(), &'static str> {
    let id = id.map_or_else(|| next_number.to_string(), str::to_owned);
    if tasks.iter().any(|task| task.id == id) {
        return Err("task_exists");
    }
    tasks.push(begun(&id, content));
    link(tasks, &id, blocked_by.iter().map(|other| (other.as_str(), id.as_str(), other)))
}

/// Finds the task that a claim takes, if it takes one.
fn claim(tasks: &mut [Task], owner: &str, id: Option<&str>) -> Result<(), &'static str> {
    let is_open = |id: &String| tasks.iter().any(|task| task.id == *id && task.status != "completed");
    let is_blocked = |task: &Task| task.blockers.iter().any(is_open);
    let at = match id {
        None => {
            let is_ready = |task: &Task| task.status == "pending" && task.owner.is_none() && !is_blocked(task);
            let Some(at) = tasks.iter().position(is_ready) else { return Ok(()) };
            at
        }
        Some(id) => {
            let at = tasks.iter().position(|task| task.id == id).ok_or("unknown_task")?;
            let task = &tasks[at];
            let is_mine = task.owner.as_deref() == Some(owner);
            match () {
                () if task.is_leased && is_mine => return Ok(()),
                () if task.status == "completed" => return Err("task_completed"),
                () if task.is_leased || (task.owner.is_some() && !is_mine) => return Err("task_held"),
                () if is_blocked(task) => return Err("task_blocked"),
                () => at,
            }
        }
    };
    let task = &mut tasks[at];
    set_status(task, "in_progress");
    task.owner = Some(owner.to_owned());
    task.is_leased = true;
    Ok(())
}
