//! Tasklane keeps the task list of every agent thread.

pub mod clock;
pub mod domain;
pub mod json;
pub mod store;
