//! Bodies about claims and restores.

use std::sync::Arc;

use utoipa::ToSchema;

use super::{Problem, strictly};
use crate::domain::limits::{LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX};
use crate::domain::{Claim, Json, Owner, Revision, TextFault};
use crate::toolset::arguments::Fields;

/// A claim.
#[derive(ToSchema)]
#[schema(example = json!({"owner": "researcher", "leaseSeconds": 600}))]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimIn {
    /// Who will hold the task.
    #[schema(min_length = 1, max_length = 256, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")]
    owner: String,
    /// For how long, in seconds; 300 if left out.
    #[schema(nullable = false, minimum = 1, maximum = 86400)]
    lease_seconds: Option<u32>,
    /// Only a task whose metadata is equal under each of these keys.
    #[schema(nullable = false, value_type = Option<Object>)]
    metadata: Option<()>,
}

/// How a task is given back.
#[derive(ToSchema)]
#[schema(example = json!({"force": true}))]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReleaseIn {
    /// The token that the claim returned; the header `X-Lease-Token` does as well.
    #[schema(nullable = false, min_length = 1, max_length = 64)]
    lease_token: Option<String>,
    /// True: without the holder's token.
    #[schema(nullable = false)]
    force: Option<bool>,
}

/// How long a task is held.
#[derive(ToSchema)]
#[schema(example = json!({"leaseToken": "1-9f86d081884c7d65", "leaseSeconds": 600}))]
#[expect(dead_code, reason = "it only describes")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeartbeatIn {
    /// The token that the claim returned; the header `X-Lease-Token` does as well.
    #[schema(nullable = false, min_length = 1, max_length = 64)]
    lease_token: Option<String>,
    /// For how long from now on, in seconds; 300 if left out.
    #[schema(nullable = false, minimum = 1, maximum = 86400)]
    lease_seconds: Option<u32>,
}

/// To what a list goes back.
#[derive(ToSchema)]
#[schema(example = json!({"revision": 0}))]
#[expect(dead_code, reason = "it only describes")]
#[serde(deny_unknown_fields)]
pub struct RestoreIn {
    /// The revision at which the list was right.
    #[schema(minimum = 0)]
    revision: i64,
}

/// Reads [`ClaimIn`].
///
/// # Errors
/// All that is wrong with the body.
pub fn claim(body: &Json) -> Result<Claim, Problem> {
    strictly(body, |fields| {
        fields.require(&["owner"]);
        let owner = fields.text("owner", |text| Owner::parse(text));
        let lease_seconds = lease_seconds(fields);
        let metadata = fields.metadata("metadata").unwrap_or_default();
        Some(Claim { owner: owner?, id: None, lease_seconds, metadata })
    })
}

/// Reads [`ReleaseIn`]: whether by force, and the token.
///
/// # Errors
/// All that is wrong with the body.
pub fn release(body: Option<&Json>) -> Result<(bool, Option<Arc<str>>), Problem> {
    let Some(body) = body else { return Ok((false, None)) };
    strictly(body, |fields| {
        let token = lease_token(fields);
        Some((fields.boolean("force").unwrap_or(false), token))
    })
}

/// Reads [`HeartbeatIn`]: for how long, and the token.
///
/// # Errors
/// All that is wrong with the body.
pub fn heartbeat(body: Option<&Json>) -> Result<(u32, Option<Arc<str>>), Problem> {
    let Some(body) = body else { return Ok((LEASE_SECONDS_DEFAULT, None)) };
    strictly(body, |fields| {
        let token = lease_token(fields);
        Some((lease_seconds(fields), token))
    })
}

/// Reads [`RestoreIn`].
///
/// # Errors
/// All that is wrong with the body.
pub fn restore(body: &Json) -> Result<Revision, Problem> {
    strictly(body, |fields| {
        fields.require(&["revision"]);
        fields.integer("revision", 0, i64::MAX).map(Revision::new)
    })
}

fn lease_seconds(fields: &mut Fields<'_>) -> u32 {
    let seconds = fields.integer("leaseSeconds", 1, i64::from(LEASE_SECONDS_MAX));
    seconds.and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(LEASE_SECONDS_DEFAULT)
}

fn lease_token(fields: &mut Fields<'_>) -> Option<Arc<str>> {
    fields.text("leaseToken", |text| if text.is_empty() { Err(TextFault::Empty) } else { Ok(Arc::from(text)) })
}
