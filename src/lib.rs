//! Tasklane keeps the task list of every agent thread.
//!
//! The map, in reading order. *The domain decides, the service commits, the store keeps, the edges translate.*
//!
//! - [`domain`]: what a list is and what an operation does to it; pure.
//! - [`json`]: reading and writing JSON without loss.
//! - [`wire`]: a task and a change as JSON.
//! - [`toolset`]: what a tool is, and the families of tools; arguments to operation, outcome to result; pure.
//! - [`store`]: keeps lists in `PostgreSQL` or `SQLite`.
//! - [`clock`]: the moment and chance.
//! - [`service`]: load, decide, commit, and on conflict again; the one door for every edge.

pub mod clock;
pub mod domain;
pub mod json;
pub mod service;
pub mod store;
pub mod toolset;
pub mod wire;
