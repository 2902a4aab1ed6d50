//! Everything that is tested from outside, in one program.

#[macro_use]
mod support;

mod mcp;
mod store;
