//! What every store promises, on both databases, and what one of them promises besides.

mod broken;
mod commits;
mod competing;
mod domain;
mod listing;
mod opening;
mod outage;
mod traces;
