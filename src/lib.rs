//! Tasklane
pub mod domain;
pub mod json;
pub mod toolset;
