//! Every number that bounds what a list can hold, each with its reason.
//!
//! What parsed types enforce is a constant; what an operator may choose is a field of [`Limits`], which the service hands
//! to [`super::apply()`] and publishes at `GET /limits`.

use serde::Serialize;

/// The most characters (Unicode scalar values) of a task, thread or resource id.
pub const ID_CHARS_MAX: usize = 256;
/// The most UTF-8 bytes of an id: five ids are the key of an index row, which `PostgreSQL` bounds at 2,704 bytes.
pub const ID_BYTES_MAX: usize = 512;
/// The most characters of an owner.
pub const OWNER_CHARS_MAX: usize = 256;
/// The most characters of a task's content and of its active form: a line or a paragraph, the rest is description.
pub const CONTENT_CHARS_MAX: usize = 4_000;
/// The most characters that a slug keeps of the content it is made from.
pub const SLUG_CHARS_MAX: usize = 48;

/// How long a claim lasts if nothing else was asked for, in seconds.
pub const LEASE_SECONDS_DEFAULT: u32 = 300;
/// The longest claim, in seconds: a day.
pub const LEASE_SECONDS_MAX: u32 = 86_400;

/// The bounds that an operator may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The most tasks of one list.
    pub tasks_max: usize,
    /// The most bytes of all texts of one list together.
    pub list_bytes_max: usize,
    /// The most bytes of one description.
    pub description_bytes_max: usize,
    /// The most bytes of one task's metadata, as compact JSON.
    pub metadata_bytes_max: usize,
    /// The most levels of objects and arrays in one task's metadata, the outermost object counted.
    pub metadata_levels_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tasks_max: 1_000,
            list_bytes_max: 4 * 1024 * 1024,
            description_bytes_max: 64 * 1024,
            metadata_bytes_max: 64 * 1024,
            metadata_levels_max: 32,
        }
    }
}
