//! What the arguments of the coordination tools mean.

use std::sync::Arc;

use super::{
    HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX, LEASE_TOKEN, TOKEN_CHARS_MAX, WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX,
};
use crate::domain::limits::{LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX};
use crate::domain::{Claim, Operation, Owner, Revision, TextFault};
use crate::toolset::arguments::Fields;
use crate::toolset::{HistoryAsk, Meant, WaitAsk};

pub(super) fn read_claim(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["owner"]);
    let owner = fields.text("owner", |text| Owner::parse(text));
    let id = fields.id("id");
    let lease_seconds = lease_seconds(fields);
    let metadata = fields.metadata("metadata").unwrap_or_default();
    Some(Meant::Change(Operation::Claim(Claim { owner: owner?, id, lease_seconds, metadata })))
}

pub(super) fn read_release(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["id"]);
    let id = fields.id("id");
    let force = fields.boolean("force").unwrap_or(false);
    Some(Meant::Change(Operation::Release { id: id?, force }))
}

pub(super) fn read_heartbeat(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["id"]);
    let id = fields.id("id");
    let lease_seconds = lease_seconds(fields);
    Some(Meant::Change(Operation::Heartbeat { id: id?, lease_seconds }))
}

fn lease_seconds(fields: &mut Fields<'_>) -> u32 {
    let seconds = fields.integer("lease_seconds", 1, i64::from(LEASE_SECONDS_MAX));
    seconds.and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(LEASE_SECONDS_DEFAULT)
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the readers of a tool's arguments")]
pub(super) fn read_history(fields: &mut Fields<'_>) -> Option<Meant> {
    let after = fields.integer("after", 0, i64::MAX).map_or(Revision::default(), Revision::new);
    let limit = fields.integer("limit", 1, HISTORY_LIMIT_MAX).and_then(|limit| usize::try_from(limit).ok());
    let task = fields.id("id");
    let ask = HistoryAsk { after, limit: limit.unwrap_or(HISTORY_LIMIT_DEFAULT), task };
    Some(Meant::History(ask))
}

pub(super) fn read_restore(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["revision"]);
    let revision = Revision::new(fields.integer("revision", 0, i64::MAX)?);
    Some(Meant::Change(Operation::Restore { revision, since: Vec::new() }))
}

pub(super) fn read_wait(fields: &mut Fields<'_>) -> Option<Meant> {
    fields.require(&["after"]);
    let after = fields.integer("after", 0, i64::MAX);
    let timeout =
        fields.integer("timeout_seconds", 0, WAIT_SECONDS_MAX).and_then(|seconds| u64::try_from(seconds).ok());
    let timeout_seconds = timeout.unwrap_or(WAIT_SECONDS_DEFAULT);
    Some(Meant::Wait(WaitAsk { after: Revision::new(after?), timeout_seconds }))
}

/// Reads the token of a claim.
pub(in crate::toolset) fn read_token(fields: &mut Fields<'_>) -> Option<Arc<str>> {
    fields.text(LEASE_TOKEN.name, |text| match text.chars().count() {
        0 => Err(TextFault::Empty),
        1..=TOKEN_CHARS_MAX => Ok(Arc::from(text)),
        _ => Err(TextFault::TooManyChars { chars_max: TOKEN_CHARS_MAX }),
    })
}
