//! What waits for what.

use std::collections::BTreeSet;

use super::model::{Task, find};

pub(crate) fn drop_dangling(tasks: &mut [Task]) {
    let ids: BTreeSet<String> = tasks.iter().map(|task| task.id.clone()).collect();
    for task in tasks.iter_mut() {
        task.blockers.retain(|id| ids.contains(id));
    }
}

/// Adds edges (blocker, blocked, the one of both that the call names).
pub(crate) fn link<'a>(
    tasks: &mut [Task],
    id: &str,
    edges: impl Iterator<Item = (&'a str, &'a str, &'a String)>,
) -> Result<(), &'static str> {
    for (blocker, blocked, named) in edges {
        if named == id {
            return Err("self_dependency");
        }
        find(tasks, named).map_err(|_| "unknown_dependency")?;
        find(tasks, blocked)?.blockers.insert(blocker.to_owned());
    }
    Ok(())
}

/// Takes away tasks without blockers until none is left; what then remains waits for itself.
pub(crate) fn has_cycle(tasks: &[Task]) -> bool {
    let mut left: Vec<&Task> = tasks.iter().collect();
    loop {
        let ids: BTreeSet<&String> = left.iter().map(|task| &task.id).collect();
        let before = left.len();
        left.retain(|task| task.blockers.iter().any(|id| ids.contains(id)));
        if left.len() == before {
            return !left.is_empty();
        }
    }
}
