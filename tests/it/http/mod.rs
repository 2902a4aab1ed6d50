//! The HTTP edge, through the real router.

mod claims;
mod conditions;
mod documents;
mod history;
mod items;
mod lists;
mod outage;
mod problems;
mod socket;
mod threads;
mod tools;

/// The body of a whole-list write of pending tasks, each with its content as id.
fn pending(contents: &[&str]) -> String {
    let tasks: Vec<_> = contents
        .iter()
        .map(|content| {
            serde_json::json!({"id": content, "content": content, "status": "pending", "activeForm": content})
        })
        .collect();
    serde_json::json!({ "tasks": tasks }).to_string()
}
