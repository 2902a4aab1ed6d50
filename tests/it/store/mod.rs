//! What every store promises, on both databases, and what one of them promises besides.

mod commits;
