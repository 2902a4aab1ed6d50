//! Everything that is tested from outside, in one program.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::large_enum_variant,
    clippy::match_same_arms,
    clippy::option_option,
    clippy::panic,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "a test that finds something else than it expects has failed; it may tell a long story"
)]

#[macro_use]
mod support;

mod cache;
mod checker;
mod conformance;
mod faults;
mod feed;
mod http;
mod mcp;
mod processes;
mod readme;
mod settings_table;
mod store;
mod story;
