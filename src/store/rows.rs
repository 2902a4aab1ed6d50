//! From rows to the domain. What is stored was parsed before it was written; a row that does not parse any more is named
//! and refused, for whatever is left of a broken list is not the list.

mod feed;

use std::fmt::Display;
use std::sync::Arc;

use chrono::{DateTime, SubsecRound, Utc};
use sqlx::{ColumnIndex, FromRow, Row, ValueRef};

use super::{KeptAnswer, Loaded, StoreError, ThreadEntry, ThreadPlace};
use crate::domain::{
    ActiveForm, Actor, Change, Content, Counters, Counts, Description, Lease, Metadata, Moment, Owner, ResourceId,
    Revision, Status, Task, TaskId, TaskList, ThreadId, ThreadKey, Version,
};
use crate::json;

pub(super) use feed::{after_place, changes_after, keys, marked, page, positions};

/// Cuts a moment to what every database keeps of it.
pub(super) fn micros(at: Moment) -> Moment {
    at.trunc_subsecs(6)
}

/// Returns the minute since 1970 in which a moment lies.
pub(super) fn minute(at: Moment) -> i64 {
    at.timestamp().div_euclid(60)
}

/// A count as the databases keep it.
pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Where the pages of a listing begin: the place after which entries come, as the statement compares it.
pub(super) fn page_start(after: Option<&ThreadPlace>) -> (i64, Moment, &str) {
    match after {
        Some(place) => (minute(place.updated_at), micros(place.updated_at), place.thread.as_str()),
        None => (i64::MAX, Moment::UNIX_EPOCH, ""),
    }
}

#[derive(FromRow)]
pub(super) struct ThreadRow {
    version: i64,
    revision: i64,
    change_id: i64,
    deleted_at_revision: Option<i64>,
    next_number: i64,
    lease_counter: i64,
    total: i64,
}

#[derive(FromRow)]
pub(super) struct NowRow {
    now: DateTime<Utc>,
}

#[derive(FromRow)]
pub(super) struct ChangeRow {
    revision: i64,
    change_id: i64,
    operation: String,
    actor: String,
    at: DateTime<Utc>,
    ops: String,
}

#[derive(FromRow)]
pub(super) struct AnswerRow {
    fingerprint: String,
    answer: String,
}

#[derive(FromRow)]
pub(super) struct TaskRow {
    id: String,
    position: i64,
    content: String,
    status: String,
    active_form: Option<String>,
    description: String,
    owner: Option<String>,
    metadata: String,
    blockers: String,
    lease_token: Option<String>,
    lease_expires_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    completed_at: Option<DateTime<Utc>>,
    task_revision: i64,
    task_change_id: i64,
}

#[derive(FromRow)]
pub(super) struct EntryRow {
    thread: String,
    revision: i64,
    total: i64,
    completed: i64,
    in_progress: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// Reads what a load returned, given the moment unless one of the rows tells it.
pub(super) fn loaded<R>(rows: &[R], key: &ThreadKey, at: Option<Moment>) -> Result<Loaded, StoreError>
where
    R: Row,
    &'static str: ColumnIndex<R>,
    for<'r> NowRow: FromRow<'r, R>,
    for<'r> ThreadRow: FromRow<'r, R>,
    for<'r> AnswerRow: FromRow<'r, R>,
    for<'r> TaskRow: FromRow<'r, R>,
{
    let place = format_args!("{}/{}", key.resource, key.thread);
    let mut at = at;
    let mut thread: Option<ThreadRow> = None;
    let mut kept = None;
    let mut tasks = Vec::with_capacity(rows.len().saturating_sub(1));
    for row in rows {
        if is_there(row, "now")? {
            at = Some(decoded::<R, NowRow>(row, "thread", &place)?.now);
        }
        if is_there(row, "version")? {
            thread = Some(decoded(row, "thread", &place)?);
        }
        if is_there(row, "fingerprint")? {
            let AnswerRow { fingerprint, answer } = decoded(row, "idempotency", &place)?;
            kept = Some(KeptAnswer { fingerprint, answer });
        }
        if is_there(row, "id")? {
            let task: TaskRow = decoded(row, "task", &place)?;
            tasks.push(Arc::new(task.parsed(key)?));
        }
    }
    // Tasks without a thread, or fewer than it counts, are what is left of a list.
    if thread.as_ref().map_or(0, |thread| thread.total) != count(tasks.len()) {
        return Err(corrupt("thread", &place, "total"));
    }
    let at = at.ok_or_else(|| corrupt("thread", &place, "now"))?;
    let Some(thread) = thread else {
        return Ok(Loaded { list: TaskList::default(), version: None, kept, at });
    };
    let list = TaskList::restored(
        Revision::new(thread.revision),
        Version::new(thread.change_id),
        thread.deleted_at_revision.map(Revision::new),
        Counters { next_number: thread.next_number, leases: thread.lease_counter },
        tasks,
    )
    .map_err(|_| corrupt("task", &place, "id"))?;
    Ok(Loaded { list, version: Some(Version::new(thread.version)), kept, at })
}

/// Reads changes of one list.
pub(super) fn changes<R>(rows: &[R], key: &ThreadKey) -> Result<Vec<Change>, StoreError>
where
    R: Row,
    for<'r> ChangeRow: FromRow<'r, R>,
{
    let place = format_args!("{}/{}", key.resource, key.thread);
    rows.iter().map(|row| decoded::<R, ChangeRow>(row, "change", &place)?.parsed(key)).collect()
}

/// Reads what a listing returned.
pub(super) fn entries<R>(rows: &[R], resource: &ResourceId) -> Result<Vec<ThreadEntry>, StoreError>
where
    R: Row,
    for<'r> EntryRow: FromRow<'r, R>,
{
    rows.iter().map(|row| decoded::<R, EntryRow>(row, "thread", resource)?.parsed(resource)).collect()
}

pub(super) fn is_there<R: Row>(row: &R, column: &'static str) -> Result<bool, StoreError>
where
    &'static str: ColumnIndex<R>,
{
    row.try_get_raw(column).map(|value| !value.is_null()).map_err(StoreError::Database)
}

pub(super) fn decoded<R: Row, T>(row: &R, table: &'static str, place: &impl Display) -> Result<T, StoreError>
where
    for<'r> T: FromRow<'r, R>,
{
    T::from_row(row).map_err(|error| match &error {
        sqlx::Error::ColumnDecode { index, .. } => corrupt(table, place, column_of(index)),
        _ => StoreError::Database(error),
    })
}

/// Finds the name of a column that did not decode: only these are of types that a stored value can miss.
fn column_of(index: &str) -> &'static str {
    const NAMES: [&str; 4] = ["created_at", "updated_at", "completed_at", "lease_expires_at"];
    NAMES.into_iter().find(|name| index.contains(name)).unwrap_or("of another type")
}

pub(super) fn corrupt(table: &'static str, row: &impl Display, column: &'static str) -> StoreError {
    StoreError::Corrupt { table, row: row.to_string(), column }
}

impl TaskRow {
    fn parsed(self, key: &ThreadKey) -> Result<Task, StoreError> {
        let place = format_args!("{}/{}/{}", key.resource, key.thread, self.id);
        let is_bad = |column| corrupt("task", &place, column);
        let lease = match (self.lease_token, self.lease_expires_at) {
            (Some(token), Some(expires_at)) => Some(Lease { token: token.into(), expires_at }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(is_bad("lease_token")),
        };
        Ok(Task {
            id: TaskId::parse(&self.id).map_err(|_| is_bad("id"))?,
            position: self.position,
            content: Content::parse(self.content).map_err(|_| is_bad("content"))?,
            status: Status::parse(&self.status).ok_or_else(|| is_bad("status"))?,
            active_form: self.active_form.map(ActiveForm::parse).transpose().map_err(|_| is_bad("active_form"))?,
            description: Description::parse(self.description).map_err(|_| is_bad("description"))?,
            owner: self.owner.map(Owner::parse).transpose().map_err(|_| is_bad("owner"))?,
            metadata: metadata(&self.metadata).ok_or_else(|| is_bad("metadata"))?,
            blockers: blockers(&self.blockers).ok_or_else(|| is_bad("blockers"))?,
            lease,
            created_at: self.created_at,
            updated_at: self.updated_at,
            completed_at: self.completed_at,
            revision: Revision::new(self.task_revision),
            change_id: Version::new(self.task_change_id),
        })
    }
}

fn metadata(text: &str) -> Option<Metadata> {
    match text {
        "{}" => Some(Metadata::default()),
        _ => Metadata::try_from(json::parse(text).ok()?).ok(),
    }
}

fn blockers(text: &str) -> Option<Vec<TaskId>> {
    match text {
        "[]" => Some(Vec::new()),
        _ => serde_json::from_str(text).ok(),
    }
}

impl ChangeRow {
    pub(super) fn parsed(self, key: &ThreadKey) -> Result<Change, StoreError> {
        let place = format_args!("{}/{}/{}", key.resource, key.thread, self.revision);
        let is_bad = |column| corrupt("change", &place, column);
        Ok(Change {
            revision: Revision::new(self.revision),
            change_id: Version::new(self.change_id),
            operation: self.operation.into(),
            actor: Actor::parse(&self.actor).map_err(|_| is_bad("actor"))?,
            at: self.at,
            ops: serde_json::from_str(&self.ops).map_err(|_| is_bad("ops"))?,
        })
    }
}

impl EntryRow {
    fn parsed(self, resource: &ResourceId) -> Result<ThreadEntry, StoreError> {
        let place = format_args!("{resource}/{}", self.thread);
        let is_bad = |column| corrupt("thread", &place, column);
        let number = |column, value: i64| usize::try_from(value).map_err(|_| is_bad(column));
        let pending = self.total.saturating_sub(self.completed).saturating_sub(self.in_progress);
        Ok(ThreadEntry {
            thread: ThreadId::parse(&self.thread).map_err(|_| is_bad("thread"))?,
            revision: Revision::new(self.revision),
            counts: Counts {
                total: number("total", self.total)?,
                completed: number("completed", self.completed)?,
                in_progress: number("in_progress", self.in_progress)?,
                pending: number("total", pending)?,
            },
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
