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
//! - [`tool_call`]: one tool call from its arguments to its result, for every edge.
//! - [`edge`]: what every edge reads from a request before anything else.
//! - [`http`]: the HTTP edge.
//! - [`mcp`]: the Model Context Protocol edge.
//! - [`server`]: all routes, the middleware, start and end.
//! - [`config`], [`telemetry`], [`log_limit`], [`healthcheck`]: what runs around it.

pub mod clock;
pub mod config;
pub mod domain;
pub mod edge;
pub mod healthcheck;
pub mod http;
pub mod json;
pub mod log_limit;
pub mod mcp;
pub mod server;
pub mod service;
pub mod store;
pub mod telemetry;
pub mod tool_call;
pub mod toolset;
pub mod wire;
