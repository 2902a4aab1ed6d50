//! Everything that is tested from outside, in one program.

#[macro_use]
mod support;

mod conformance;
mod faults;
mod processes;
mod readme;
mod store;
mod story;
