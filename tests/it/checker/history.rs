//! The history of a thread as the service tells it, replayed to every state that the list ever had.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::model::{Task, tasks_of};

/// The tasks of a list in the shape of REST.
pub(crate) type State = Vec<Arc<Value>>;

#[derive(Debug)]
pub(crate) struct History {
    /// The change that made each revision, from 1 on.
    pub(crate) changes: Vec<Value>,
    /// The list at each revision, from 0 on.
    states: Vec<State>,
    /// The same as the rules need it.
    tasks: Vec<Vec<Task>>,
    /// At each revision, from 0 on: by whom each leased task is held.
    holders: Vec<HashMap<String, Holder>>,
}

/// The claim by which a task is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Which of the thread's claims, counted from 1: its token begins with it.
    pub(crate) claim: u64,
    /// The call that made it; a repeat of the claim by its holder is told the same token.
    pub(crate) call: String,
}

impl History {
    /// Replays the changes, or tells at which revision they contradict each other.
    pub(crate) fn replay(changes: Vec<Value>) -> Result<Self, (i64, String)> {
        let mut claims = 0;
        let mut history = Self {
            changes: Vec::new(),
            states: vec![State::new()],
            tasks: vec![Vec::new()],
            holders: vec![HashMap::new()],
        };
        for (expected, change) in (1..).zip(changes) {
            let revision = change["revision"].as_i64().unwrap_or_default();
            if revision != expected {
                return Err((expected, format!("the history has revision {revision} where {expected} belongs")));
            }
            let before = history.state(expected - 1);
            let after = replayed(before, &change).map_err(|fault| (expected, fault))?;
            check_stamps(before, &after, &change).map_err(|fault| (expected, fault))?;
            claims += u64::from(change["operation"] == "task_claim");
            let newest = Holder { claim: claims, call: change["actor"].as_str().unwrap_or_default().to_owned() };
            let holders = held(&history.holders[history.holders.len() - 1], &after, &newest);
            history.tasks.push(tasks_of(&after));
            history.states.push(after);
            history.holders.push(holders);
            history.changes.push(change);
        }
        Ok(history)
    }

    pub(crate) fn last(&self) -> i64 {
        i64::try_from(self.changes.len()).unwrap_or(i64::MAX)
    }

    pub(crate) fn has(&self, revision: i64) -> bool {
        (0..=self.last()).contains(&revision)
    }

    /// The change that made a revision which is not 0.
    pub(crate) fn change(&self, revision: i64) -> &Value {
        &self.changes[index(revision - 1)]
    }

    pub(crate) fn state(&self, revision: i64) -> &State {
        &self.states[index(revision)]
    }

    pub(crate) fn tasks(&self, revision: i64) -> &Vec<Task> {
        &self.tasks[index(revision)]
    }

    /// The claim that holds a task at a revision.
    pub(crate) fn holder(&self, revision: i64, task: &str) -> Option<&Holder> {
        self.holders[index(revision)].get(task)
    }
}

fn index(revision: i64) -> usize {
    usize::try_from(revision).expect("a revision of this history")
}

fn replayed(before: &State, change: &Value) -> Result<State, String> {
    let mut state = before.clone();
    let place = |state: &State, id: &Value| {
        let at = state.iter().position(|task| task["id"] == *id);
        at.ok_or_else(|| format!("a step is about {id}, which is not in the list"))
    };
    for step in change["ops"].as_array().into_iter().flatten() {
        let id = if step["op"] == "remove" { &step["id"] } else { &step["task"]["id"] };
        match step["op"].as_str().unwrap_or_default() {
            "add" if place(&state, id).is_ok() => return Err(format!("{id} is added a second time")),
            "add" => state.push(Arc::new(step["task"].clone())),
            "order" => {
                let ids = step["ids"].as_array().cloned().unwrap_or_default();
                let moved: Result<State, String> =
                    ids.iter().map(|id| place(&state, id).map(|at| Arc::clone(&state[at]))).collect();
                state = Some(moved?).filter(|moved| moved.len() == state.len()).ok_or("the order has not all ids")?;
            }
            op => {
                let at = place(&state, id)?;
                if *state[at] != step["before"] {
                    return Err(format!("a step changes {}\nwhere the list has {}", step["before"], state[at]));
                }
                match op {
                    "update" => state[at] = Arc::new(step["task"].clone()),
                    _ => drop(state.remove(at)),
                }
            }
        }
    }
    Ok(state)
}

/// A task's revision and moment move exactly when anything else of it does.
fn check_stamps(before: &State, after: &State, change: &Value) -> Result<(), String> {
    for task in after {
        let was = before.iter().find(|was| was["id"] == task["id"]);
        if was == Some(task) {
            continue;
        }
        if task["revision"] != change["revision"] || task["updatedAt"] != change["at"] {
            return Err(format!("a changed task is not stamped with the change: {task}"));
        }
        let unstamped = |task: &Value| {
            let mut task = task.clone();
            (task["revision"], task["updatedAt"]) = (Value::Null, Value::Null);
            task
        };
        if was.is_some_and(|was| unstamped(was) == unstamped(task)) {
            return Err(format!("a task that did not change is stamped as if it had: {task}"));
        }
    }
    Ok(())
}

/// A lease lasts as long as its task shows one; whose it is, is seen from the change that brought it: the newest claim.
fn held(before: &HashMap<String, Holder>, after: &State, newest: &Holder) -> HashMap<String, Holder> {
    let leased = after.iter().filter(|task| task.get("lease").is_some());
    let holder = |task: &Arc<Value>| {
        let id = task["id"].as_str().unwrap_or_default().to_owned();
        let holder = before.get(&id).unwrap_or(newest).clone();
        (id, holder)
    };
    leased.map(holder).collect()
}
