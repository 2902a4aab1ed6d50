//! What goes over the wire, as this interface writes it: camel case, times in UTC with microseconds, absent what does not
//! apply. Bodies that come in are in [`super::bodies`].

mod limits;
mod list;
mod problem;
mod task;
mod thread;
mod tool;

use chrono::SecondsFormat;
use serde::Serializer;
use serde::ser::SerializeMap;

use crate::domain::{Metadata, Moment};

pub use limits::{HealthOut, LimitsOut};
pub use list::{ChangedOut, CheckOut, ListOut, MinimalOut, SummaryOut};
pub use problem::{FaultOut, ProblemKindOut, ProblemOut};
pub use task::{LeaseOut, StatusOut, TaskOut};
pub use thread::{ThreadOut, ThreadsOut};
pub use tool::{FormatIn, ToolResultOut, ToolsOut, ToolsetIn};

fn moment<S: Serializer>(at: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Micros, true))
}

#[expect(clippy::ref_option, reason = "serde passes the field as it is")]
fn moment_if_any<S: Serializer>(at: &Option<Moment>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => moment(at, serializer),
        None => serializer.serialize_none(),
    }
}

/// Writes the members from where they are; the domain's own way copies them first.
fn metadata<S: Serializer>(metadata: &Metadata, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(metadata.members().len()))?;
    for (key, value) in metadata.members() {
        map.serialize_entry(key, value)?;
    }
    map.end()
}
