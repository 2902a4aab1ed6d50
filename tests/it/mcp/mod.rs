//! The Model Context Protocol through the real router.

mod arguments;
mod calls;
mod conformance;
mod gate;
mod handshake;
mod listen;
mod listing;
mod outage;
mod resources;
