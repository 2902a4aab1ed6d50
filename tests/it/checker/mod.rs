//! Whether anything that was acknowledged is ever lost, repeated or overwritten unseen: random calls at once, everything
//! recorded, and one order sought that explains every answer.
//!
//! - [`operation`], [`call`]: what was asked, when, and what came back; [`model`], [`edges`]: what each operation
//!   does.
//! - [`dice`], [`known`], [`client`], [`workload`]: making calls.
//! - [`history`], [`bodies`], [`order`], [`verify`], [`violation`]: judging them.
//! - [`sabotage`], [`inside`]: whether the judge notices what is wrong.
//! - [`cluster`], [`wire`], [`process`], [`nemesis`], [`outside`]: real processes, and what befalls them.

mod bodies;
mod call;
mod client;
mod cluster;
mod dice;
mod edges;
mod found;
mod history;
mod inside;
mod known;
mod model;
mod nemesis;
mod operation;
mod order;
mod outside;
mod process;
mod sabotage;
mod verify;
mod violation;
mod wire;
mod workload;
