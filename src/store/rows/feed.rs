//! From rows to what followers of changes are told.

use chrono::{DateTime, Utc};
use sqlx::{ColumnIndex, FromRow, Row};

use super::{ChangeRow, corrupt, decoded, is_there};
use crate::domain::{Change, ResourceId, Revision, ThreadId, ThreadKey, Version};
use crate::store::{Page, Place, Placed, Position, StoreError};

#[derive(FromRow)]
pub(in crate::store) struct NumberRow {
    n: i64,
}

#[derive(FromRow)]
pub(in crate::store) struct PositionRow {
    revision: i64,
    change_id: i64,
    lease_expires_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
}

#[derive(FromRow)]
pub(in crate::store) struct HorizonRow {
    horizon: i64,
}

#[derive(FromRow)]
pub(in crate::store) struct PlacedRow {
    number: i64,
    thread: String,
    follows: bool,
}

#[derive(FromRow)]
pub(in crate::store) struct KeyRow {
    resource: String,
    thread: String,
}

/// Reads where lists stand; a list without a row was never written.
pub(in crate::store) fn positions<R>(rows: &[R], keys: &[ThreadKey]) -> Result<Vec<Position>, StoreError>
where
    R: Row,
    for<'r> NumberRow: FromRow<'r, R>,
    for<'r> PositionRow: FromRow<'r, R>,
{
    let mut positions = vec![Position::default(); keys.len()];
    for row in rows {
        let NumberRow { n } = decoded(row, "thread", &"positions")?;
        let row: PositionRow = decoded(row, "thread", &"positions")?;
        if let Some(position) = usize::try_from(n).ok().and_then(|n| positions.get_mut(n)) {
            *position = Position {
                revision: Revision::new(row.revision),
                change_id: Version::new(row.change_id),
                has_ended_lease: row.lease_expires_at.is_some_and(|expiry| expiry <= row.now),
            };
        }
    }
    Ok(positions)
}

/// Reads changes of several lists.
pub(in crate::store) fn changes_after<R>(
    rows: &[R],
    after: &[(ThreadKey, Revision)],
) -> Result<Vec<Vec<Change>>, StoreError>
where
    R: Row,
    for<'r> NumberRow: FromRow<'r, R>,
    for<'r> ChangeRow: FromRow<'r, R>,
{
    let mut changes = vec![Vec::new(); after.len()];
    for row in rows {
        let NumberRow { n } = decoded(row, "change", &"changes")?;
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        if let (Some((key, _)), Some(changes)) = (after.get(n), changes.get_mut(n)) {
            let place = format_args!("{}/{}", key.resource, key.thread);
            changes.push(decoded::<R, ChangeRow>(row, "change", &place)?.parsed(key)?);
        }
    }
    Ok(changes)
}

/// Returns the thread and revision after which a page begins, as the statements compare them: before all of them where the
/// place names none.
pub(in crate::store) fn after_place(place: &Place) -> (&str, i64) {
    place.after.as_ref().map_or(("", 0), |(thread, revision)| (thread.as_str(), revision.get()))
}

/// Reads a page of a resource's changes.
pub(in crate::store) fn page<R>(rows: &[R], resource: &ResourceId) -> Result<Page, StoreError>
where
    R: Row,
    &'static str: ColumnIndex<R>,
    for<'r> HorizonRow: FromRow<'r, R>,
    for<'r> PlacedRow: FromRow<'r, R>,
    for<'r> ChangeRow: FromRow<'r, R>,
{
    let mut page = Page::default();
    for row in rows {
        page.horizon = decoded::<R, HorizonRow>(row, "change", resource)?.horizon;
        if !is_there(row, "number")? {
            continue;
        }
        let PlacedRow { number, thread, follows } = decoded(row, "change", resource)?;
        let thread = ThreadId::parse(&thread).map_err(|_| corrupt("change", resource, "thread"))?;
        let key = ThreadKey { resource: resource.clone(), thread };
        let change = decoded::<R, ChangeRow>(row, "change", resource)?.parsed(&key)?;
        page.changes.push(Placed { number, thread: key.thread, follows, change });
    }
    Ok(page)
}

/// Tells which of so many were found.
pub(in crate::store) fn marked(found: &[i64], count: usize) -> Vec<bool> {
    let mut marked = vec![false; count];
    for n in found {
        if let Some(mark) = usize::try_from(*n).ok().and_then(|n| marked.get_mut(n)) {
            *mark = true;
        }
    }
    marked
}

/// Reads keys of threads.
pub(in crate::store) fn keys<R>(rows: &[R]) -> Result<Vec<ThreadKey>, StoreError>
where
    R: Row,
    for<'r> KeyRow: FromRow<'r, R>,
{
    rows.iter()
        .map(|row| {
            let KeyRow { resource, thread } = decoded(row, "thread", &"keys")?;
            let is_bad = |column| corrupt("thread", &format_args!("{resource}/{thread}"), column);
            Ok(ThreadKey {
                resource: ResourceId::parse(&resource).map_err(|_| is_bad("resource"))?,
                thread: ThreadId::parse(&thread).map_err(|_| is_bad("thread"))?,
            })
        })
        .collect()
}
