//! The service itself: its bounds and its health.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::Limits;
use crate::domain::limits::{CONTENT_CHARS_MAX, ID_BYTES_MAX, ID_CHARS_MAX, OWNER_CHARS_MAX};

/// The bounds that hold for every list and request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "tasksMax": 1000, "listBytesMax": 4_194_304, "descriptionBytesMax": 65536, "metadataBytesMax": 65536,
    "metadataLevelsMax": 32, "bodyBytesMax": 4_194_304, "idCharsMax": 256, "idBytesMax": 512, "ownerCharsMax": 256,
    "contentCharsMax": 4000
}))]
pub struct LimitsOut {
    /// The most tasks of one list.
    #[schema(minimum = 0)]
    pub tasks_max: usize,
    /// The most bytes of all texts of one list together.
    #[schema(minimum = 0)]
    pub list_bytes_max: usize,
    /// The most bytes of one description.
    #[schema(minimum = 0)]
    pub description_bytes_max: usize,
    /// The most bytes of one task's metadata, as compact JSON.
    #[schema(minimum = 0)]
    pub metadata_bytes_max: usize,
    /// The most levels of objects and arrays in one task's metadata.
    #[schema(minimum = 0)]
    pub metadata_levels_max: usize,
    /// The most bytes of a request's body.
    #[schema(minimum = 0)]
    pub body_bytes_max: usize,
    /// The most characters of an id.
    #[schema(minimum = 0)]
    pub id_chars_max: usize,
    /// The most UTF-8 bytes of an id.
    #[schema(minimum = 0)]
    pub id_bytes_max: usize,
    /// The most characters of an owner.
    #[schema(minimum = 0)]
    pub owner_chars_max: usize,
    /// The most characters of a task's content and of its active form.
    #[schema(minimum = 0)]
    pub content_chars_max: usize,
}

impl LimitsOut {
    /// Shows the bounds.
    #[must_use]
    pub fn of(limits: &Limits, body_bytes_max: usize) -> Self {
        Self {
            tasks_max: limits.tasks_max,
            list_bytes_max: limits.list_bytes_max,
            description_bytes_max: limits.description_bytes_max,
            metadata_bytes_max: limits.metadata_bytes_max,
            metadata_levels_max: limits.metadata_levels_max,
            body_bytes_max,
            id_chars_max: ID_CHARS_MAX,
            id_bytes_max: ID_BYTES_MAX,
            owner_chars_max: OWNER_CHARS_MAX,
            content_chars_max: CONTENT_CHARS_MAX,
        }
    }
}

/// Whether the service is well.
#[derive(Debug, Serialize, ToSchema)]
pub struct HealthOut {
    /// Always `ok`: anything else is a problem.
    #[schema(example = "ok")]
    pub status: &'static str,
}
