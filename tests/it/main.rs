//! Everything that is tested from outside, in one program.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on ends there, and what helps tests is no interface"
)]

#[macro_use]
mod support;

mod checker;
mod conformance;
mod faults;
mod feed;
mod mcp;
mod processes;
mod readme;
mod settings_table;
mod store;
mod story;
