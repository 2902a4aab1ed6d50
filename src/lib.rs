//! Tasklane
pub mod domain;
pub mod json;
