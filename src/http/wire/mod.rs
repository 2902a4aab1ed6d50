//! What goes over the wire, as this interface writes it: camel case, times in UTC with microseconds, absent what does not
//! apply. Bodies that come in are in [`super::bodies`].

mod coordination;
mod event;
mod limits;
mod list;
mod problem;
mod thread;
mod tool;

pub use coordination::{ClaimOut, ClaimedLeaseOut, HistoryOut, RestoreOut};
pub use event::{ChangeEventOut, EventOut, ListEventOut, ResourceEventOut, ThreadsEventOut};
pub use limits::{HealthOut, LimitsOut};
pub use list::{ChangedOut, CheckOut, ListOut, MinimalOut, SummaryOut};
pub use problem::{FaultOut, ProblemKindOut, ProblemOut};
pub use thread::{ThreadOut, ThreadsOut};
pub use tool::{FormatIn, ToolResultOut, ToolsOut, ToolsetIn};

pub use crate::wire::{ChangeOut, Detail, LeaseOut, OpOut, TaskOut, moment, moment_if_any};
