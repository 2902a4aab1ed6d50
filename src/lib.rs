//! Tasklane keeps the task list of every agent thread.
//!
//! The map, in reading order. *The domain decides, the service commits, the store keeps, the edges translate.*
//!
//! - [`domain`]: what a list is and what an operation does to it; pure.
//! - [`json`]: reading and writing JSON without loss.
//! - [`toolset`]: what a tool is, and the families of tools; arguments to operation, outcome to result; pure.
//! - [`store`]: keeps lists in `PostgreSQL` or `SQLite`.
//! - [`clock`]: the moment and chance.
//! - [`service`]: load, decide, commit, and on conflict again; the one door for every edge.
//! - [`tool_call`]: one tool call from its arguments to its result, the same for every edge.
//! - [`edge`]: what every edge reads from a request before anything else.
//! - [`mcp`]: the Model Context Protocol edge.

pub mod clock;
pub mod domain;
pub mod edge;
pub mod json;
pub mod mcp;
pub mod service;
pub mod store;
pub mod tool_call;
pub mod toolset;
