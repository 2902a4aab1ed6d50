//! What every store promises, on both databases, and what one of them promises besides.

mod batches;
mod broken;
mod commits;
mod competing;
mod domain;
mod listing;
mod opening;
mod outage;
mod traces;
