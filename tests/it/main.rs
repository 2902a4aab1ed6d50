//! Everything that is tested from outside, in one program.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines,
    reason = "a test that finds something else than it expects has failed; it may tell a long story"
)]

#[macro_use]
mod support;

mod http;
mod store;
