//! What `PostgreSQL` tells of changes, and how processes tell each other through it.
//!
//! A notification inside the transaction that changes a list would make all commits queue: the database sends them in the
//! order of the commits, under one lock. So they are sent afterwards, many at a time, on a connection of their own.

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPool, PgPoolOptions, PgRow};
use sqlx::{Connection, Executor};
use tokio::sync::Mutex;

use super::{PostgresStore, read_error};
use crate::domain::{Change, ResourceId, Revision, ThreadKey};
use crate::store::{ChangeFeed, Hearing, Notice, Page, Place, Position, StoreError, StoreOptions, rows};

pub(super) const POSITIONS: &str = "
select
  k.n - 1 as n,
  t.revision,
  t.change_id,
  t.lease_expires_at,
  clock_timestamp() as now
from unnest($1::text[], $2::text[]) with ordinality as k (resource, thread, n)
join thread as t
  on t.resource = k.resource
  and t.thread = k.thread";

pub(super) const CHANGES_AFTER: &str = "
select
  k.n - 1 as n,
  c.revision,
  c.change_id,
  c.operation,
  c.actor,
  c.at,
  c.ops
from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as k (resource, thread, after, n)
join change as c
  on c.resource = k.resource
  and c.thread = k.thread
  and c.revision > k.after
  and c.revision <= k.after + $4
order by k.n, c.revision";

/// The snapshot's xmin belongs to the very snapshot in which the changes are looked for: transactions that still run, and
/// may have lower numbers than some that have ended, are at or above it.
pub(super) const RESOURCE_CHANGES: &str = "
select
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon,
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
left join lateral (
  select
    xid::text::bigint as number,
    xid,
    thread,
    revision,
    change_id,
    operation,
    actor,
    at,
    ops
  from change
  where resource = $1
    and xid >= $2::text::xid8
    and (xid > $2::text::xid8 or (thread, revision) > ($3, $4))
  order by xid, thread, revision
  limit $5
) as c on true
order by c.xid, c.thread, c.revision";

pub(super) const HAS_CHANGES_FROM: &str = "
select k.n - 1 as n
from unnest($1::text[], $2::text[]) with ordinality as k (resource, number, n)
where exists (
  select 1
  from change as c
  where c.resource = k.resource
    and c.xid >= k.number::xid8
)";

pub(super) const THREADS_WITH_ENDED_LEASES: &str = "
select
  resource,
  thread
from thread
where resource = any ($1)
  and lease_expires_at <= clock_timestamp()
limit 1000";

/// A transaction for each payload would be a commit for each; this is one for all.
pub(super) const ANNOUNCE: &str = "
select pg_notify('tasklane', payload)
from unnest($1::text[]) as payload";

const CHANNEL: &str = "tasklane";

/// The server takes less than 8,000 bytes.
const PAYLOAD_BYTES_MAX: usize = 7_900;

/// An announcement is never worth waiting for the disk: whoever misses it looks for itself.
const ANNOUNCER_SETTINGS: &str = "set synchronous_commit = off";

/// The connections on which processes tell each other of changes, beside those that change lists.
#[derive(Debug)]
pub(super) struct Announcements {
    options: PgConnectOptions,
    announcer: Mutex<Option<PgConnection>>,
    listeners: PgPool,
}

impl Announcements {
    pub(super) fn new(connect: PgConnectOptions, options: &StoreOptions) -> Self {
        let listeners = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .acquire_timeout(options.acquire_timeout)
            .connect_lazy_with(connect.clone());
        Self { options: connect, announcer: Mutex::new(None), listeners }
    }

    pub(super) async fn close(&self) {
        self.listeners.close().await;
        if let Some(connection) = self.announcer.lock().await.take() {
            // Nothing is lost with it: the server sees the connection end either way.
            drop(connection.close().await);
        }
    }

    async fn announce(&self, payloads: &[String]) -> Result<(), sqlx::Error> {
        let mut announcer = self.announcer.lock().await;
        let mut connection = if let Some(connection) = announcer.take() {
            connection
        } else {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            connection.execute(ANNOUNCER_SETTINGS).await?;
            connection
        };
        // A connection on which this failed is not kept.
        sqlx::query(ANNOUNCE).bind(payloads).execute(&mut connection).await?;
        *announcer = Some(connection);
        Ok(())
    }
}

struct Listener(PgListener);

#[async_trait]
impl Hearing for Listener {
    async fn hear(&mut self) -> Result<Vec<Notice>, StoreError> {
        match self.0.try_recv().await {
            Ok(Some(heard)) => Ok(heard.payload().split(',').filter_map(Notice::read).collect()),
            Ok(None) => Err(StoreError::Unavailable(sqlx::Error::WorkerCrashed)),
            Err(error) => Err(StoreError::Unavailable(error)),
        }
    }
}

fn payloads(notices: &[Notice]) -> Vec<String> {
    let mut payloads: Vec<String> = Vec::new();
    for notice in notices.iter().map(Notice::written) {
        match payloads.last_mut() {
            Some(last) if last.len() + 1 + notice.len() <= PAYLOAD_BYTES_MAX => {
                last.push(',');
                last.push_str(&notice);
            }
            _ => payloads.push(notice),
        }
    }
    payloads
}

fn texts<T>(rows: &[T], text: impl Fn(&T) -> &str) -> Vec<String> {
    rows.iter().map(|row| text(row).to_owned()).collect()
}

#[async_trait]
impl ChangeFeed for PostgresStore {
    async fn positions(&self, keys: &[ThreadKey]) -> Result<Vec<Position>, StoreError> {
        let query = sqlx::query(POSITIONS)
            .bind(texts(keys, |key| key.resource.as_str()))
            .bind(texts(keys, |key| key.thread.as_str()));
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::positions(&rows, keys)
    }

    async fn changes_after(&self, after: &[(ThreadKey, Revision)], count: u32) -> Result<Vec<Vec<Change>>, StoreError> {
        let revisions: Vec<i64> = after.iter().map(|(_, revision)| revision.get()).collect();
        let query = sqlx::query(CHANGES_AFTER)
            .bind(texts(after, |(key, _)| key.resource.as_str()))
            .bind(texts(after, |(key, _)| key.thread.as_str()))
            .bind(revisions)
            .bind(i64::from(count));
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::changes_after(&rows, after)
    }

    async fn resource_changes(&self, resource: &ResourceId, from: &Place, limit: u32) -> Result<Page, StoreError> {
        let (thread, revision) = rows::after_place(from);
        let query = sqlx::query(RESOURCE_CHANGES)
            .bind(resource.as_str())
            .bind(from.number.to_string())
            .bind(thread)
            .bind(revision)
            .bind(i64::from(limit));
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::page(&rows, resource)
    }

    async fn has_changes_from(&self, from: &[(ResourceId, i64)]) -> Result<Vec<bool>, StoreError> {
        let numbers: Vec<String> = from.iter().map(|(_, number)| number.to_string()).collect();
        let query =
            sqlx::query_scalar(HAS_CHANGES_FROM).bind(texts(from, |(resource, _)| resource.as_str())).bind(numbers);
        let mut connection = self.connection().await?;
        let found: Vec<i64> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        Ok(rows::marked(&found, from.len()))
    }

    async fn threads_with_ended_leases(&self, resources: &[ResourceId]) -> Result<Vec<ThreadKey>, StoreError> {
        let query = sqlx::query(THREADS_WITH_ENDED_LEASES).bind(texts(resources, |resource| resource.as_str()));
        let mut connection = self.connection().await?;
        let rows: Vec<PgRow> = query.fetch_all(&mut *connection).await.map_err(read_error)?;
        rows::keys(&rows)
    }

    fn announces(&self) -> bool {
        self.announcements.is_some()
    }

    async fn announce(&self, notices: &[Notice]) -> Result<(), StoreError> {
        match &self.announcements {
            Some(announcements) => announcements.announce(&payloads(notices)).await.map_err(read_error),
            None => Ok(()),
        }
    }

    async fn listen(&self) -> Result<Option<Box<dyn Hearing>>, StoreError> {
        let Some(announcements) = &self.announcements else { return Ok(None) };
        let mut listener = PgListener::connect_with(&announcements.listeners).await.map_err(read_error)?;
        // Whoever listens has to know that something may have been missed, before it listens again.
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await.map_err(read_error)?;
        Ok(Some(Box::new(Listener(listener))))
    }
}

#[cfg(test)]
mod tests {
    use super::{Notice, PAYLOAD_BYTES_MAX, Revision, payloads};

    #[test]
    fn notices_go_into_as_few_payloads_as_the_server_takes() {
        let notice = |n: i64| Notice { resource: u64::MAX, thread: u64::MAX, revision: Revision::new(i64::MAX - n) };
        let notices: Vec<Notice> = (0..1_000).map(notice).collect();
        let payloads = payloads(&notices);
        assert_eq!(payloads.len(), 7);
        assert!(payloads.iter().all(|payload| payload.len() <= PAYLOAD_BYTES_MAX));
        let read = payloads.iter().flat_map(|payload| payload.split(',')).filter_map(Notice::read);
        assert!(read.eq(notices.iter().copied()));
    }
}
