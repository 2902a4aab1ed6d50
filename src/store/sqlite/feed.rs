//! What `SQLite` tells of changes. Processes that share a file cannot tell each other; each looks for itself.

use async_trait::async_trait;
use serde_json::json;
use sqlx::sqlite::SqliteRow;

use super::{SqliteStore, read_error};
use crate::domain::{Change, ResourceId, Revision, ThreadKey};
use crate::store::{ChangeFeed, Hearing, Notice, Page, Place, Position, StoreError, rows};

/// The keys are a JSON array of [resource, thread], since there are no arrays here.
pub(super) const POSITIONS: &str = "
select
  k.key as n,
  t.revision,
  t.change_id,
  t.lease_expires_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now
from json_each($1) as k
join thread as t
  on t.resource = k.value ->> 0
  and t.thread = k.value ->> 1";

pub(super) const CHANGES_AFTER: &str = "
select
  k.key as n,
  c.revision,
  c.change_id,
  c.operation,
  c.actor,
  c.at,
  c.ops
from json_each($1) as k
join change as c
  on c.resource = k.value ->> 0
  and c.thread = k.value ->> 1
  and c.revision > k.value ->> 2
  and c.revision <= (k.value ->> 2) + $2
order by k.key, c.revision";

/// There is one writer: what is visible is all there is below the next number.
pub(super) const RESOURCE_CHANGES: &str = "
select
  coalesce((select seq from sqlite_sequence where name = 'change'), 0) + 1 as horizon,
  c.number,
  c.thread,
  c.revision = 1 or exists (
    select 1
    from change as p
    where p.resource = $1
      and p.thread = c.thread
      and p.revision = c.revision - 1
  ) as follows,
  c.revision,
  c.change_id,
  c.operation,
  c.actor,
  c.at,
  c.ops
from (select 1 as one) as here
left join (
  select
    place as number,
    thread,
    revision,
    change_id,
    operation,
    actor,
    at,
    ops
  from change
  where resource = $1
    and place >= $2
    and (place > $2 or (thread, revision) > ($3, $4))
  order by place
  limit $5
) as c on true
order by c.number";

pub(super) const HAS_CHANGES_FROM: &str = "
select k.key
from json_each($1) as k
where exists (
  select 1
  from change as c
  where c.resource = k.value ->> 0
    and c.place >= k.value ->> 1
)";

pub(super) const THREADS_WITH_ENDED_LEASES: &str = "
select
  resource,
  thread
from thread
where resource in (select value from json_each($1))
  and lease_expires_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
limit 1000";

#[async_trait]
impl ChangeFeed for SqliteStore {
    async fn positions(&self, keys: &[ThreadKey]) -> Result<Vec<Position>, StoreError> {
        let asked: Vec<_> = keys.iter().map(|key| json!([key.resource.as_str(), key.thread.as_str()])).collect();
        let query = sqlx::query(POSITIONS).bind(json!(asked).to_string());
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::positions(&rows, keys)
    }

    async fn changes_after(&self, after: &[(ThreadKey, Revision)], count: u32) -> Result<Vec<Vec<Change>>, StoreError> {
        let asked: Vec<_> = after
            .iter()
            .map(|(key, revision)| json!([key.resource.as_str(), key.thread.as_str(), revision.get()]))
            .collect();
        let query = sqlx::query(CHANGES_AFTER).bind(json!(asked).to_string()).bind(i64::from(count));
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::changes_after(&rows, after)
    }

    async fn resource_changes(&self, resource: &ResourceId, from: &Place, limit: u32) -> Result<Page, StoreError> {
        let (thread, revision) = rows::after_place(from);
        let query = sqlx::query(RESOURCE_CHANGES)
            .bind(resource.as_str())
            .bind(from.number)
            .bind(thread)
            .bind(revision)
            .bind(i64::from(limit));
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::page(&rows, resource)
    }

    async fn has_changes_from(&self, from: &[(ResourceId, i64)]) -> Result<Vec<bool>, StoreError> {
        let asked: Vec<_> = from.iter().map(|(resource, number)| json!([resource.as_str(), number])).collect();
        let query = sqlx::query_scalar(HAS_CHANGES_FROM).bind(json!(asked).to_string());
        let mut connection = self.reader().await?;
        let found: Vec<i64> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        Ok(rows::marked(&found, from.len()))
    }

    async fn threads_with_ended_leases(&self, resources: &[ResourceId]) -> Result<Vec<ThreadKey>, StoreError> {
        let asked: Vec<_> = resources.iter().map(|resource| json!(resource.as_str())).collect();
        let query = sqlx::query(THREADS_WITH_ENDED_LEASES).bind(json!(asked).to_string());
        let mut connection = self.reader().await?;
        let rows: Vec<SqliteRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::keys(&rows)
    }

    fn announces(&self) -> bool {
        false
    }

    async fn announce(&self, _: &[Notice]) -> Result<(), StoreError> {
        Ok(())
    }

    async fn listen(&self) -> Result<Option<Box<dyn Hearing>>, StoreError> {
        Ok(None)
    }
}
