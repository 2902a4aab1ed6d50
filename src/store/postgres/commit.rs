//! The commit on `PostgreSQL`: one statement for any number of threads.
//!
//! It is one statement so that it is one journey and one transaction. Its shape is the one of many that neither lost a
//! commit nor stalled; each part says what goes wrong without it.

use std::collections::HashSet;

use sqlx::error::DatabaseError;
use sqlx::postgres::PgConnection;
use sqlx::{Postgres, Row};

use super::columns::bound;
use super::prepared::Prepared;
use super::{broke, in_time};
use crate::domain::ThreadKey;
use crate::store::write::Storable;
use crate::store::{Committed, StoreError};

/// - `locked` compares the version in the very scan that takes the lock: compared later, it would be the version of a
///   snapshot that another commit has overtaken. It takes locks in the order of the keys, and leaves out threads that
///   somebody else is committing to: two statements can neither wait for each other in a circle nor queue.
/// - `born` makes a thread only where none was read, in the order of the keys, for a birth does wait for another one of the
///   same thread. Whoever comes second makes nothing: an update here would add to a list that was never read.
/// - Everything else joins `won`, so that a lost commit leaves nothing at all.
pub(super) const COMMIT: &str = r#"
with asked as (
  select *
  from unnest(
    $1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::timestamptz[], $11::bigint[], $12::bigint[], $13::bigint[], $14::boolean[], $15::boolean[],
    $16::timestamptz[], $17::bigint[]
  ) with ordinality as asked (
    resource, thread, expected, version, revision, change_id, deleted_at_revision, next_number,
    lease_counter, lease_expires_at, total, completed, in_progress, is_change, forgets_changes,
    at, active_minute, n
  )
),
locked as materialized (
  select asked.*
  from asked
  join thread as t
    on t.resource = asked.resource
    and t.thread = asked.thread
    and t.version = asked.expected
  order by t.resource, t.thread
  for no key update of t skip locked
),
moved as (
  update thread as t
  set
    version = l.version,
    revision = l.revision,
    change_id = l.change_id,
    deleted_at_revision = l.deleted_at_revision,
    next_number = l.next_number,
    lease_counter = l.lease_counter,
    lease_expires_at = l.lease_expires_at,
    active_minute = case when l.is_change then greatest(t.active_minute, l.active_minute) else t.active_minute end,
    total = case when l.is_change then l.total else t.total end,
    completed = case when l.is_change then l.completed else t.completed end,
    in_progress = case when l.is_change then l.in_progress else t.in_progress end,
    created_at = case when t.revision = 0 then l.at else t.created_at end,
    updated_at = case when l.is_change then greatest(t.updated_at, l.at) else t.updated_at end
  from locked as l
  where t.resource = l.resource
    and t.thread = l.thread
  returning l.n
),
born as (
  insert into thread (
    resource, thread, version, revision, change_id, deleted_at_revision, next_number,
    lease_counter, lease_expires_at, active_minute, total, completed, in_progress, created_at, updated_at
  )
  select
    resource, thread, version, revision, change_id, deleted_at_revision, next_number,
    lease_counter, lease_expires_at, active_minute, total, completed, in_progress, at, at
  from asked
  where expected is null
  order by resource collate "C", thread collate "C"
  on conflict do nothing
  returning resource, thread, version
),
won as materialized (
  select asked.n, asked.resource, asked.thread, asked.version, asked.at, asked.forgets_changes
  from moved
  join asked on asked.n = moved.n
  union all
  select asked.n, asked.resource, asked.thread, asked.version, asked.at, asked.forgets_changes
  from born
  join asked
    on asked.resource = born.resource
    and asked.thread = born.thread
    and asked.version = born.version
),
removed as (
  delete from task as t
  using unnest($18::bigint[], $19::text[]) as removal (n, id), won
  where won.n = removal.n
    and t.resource = won.resource
    and t.thread = won.thread
    and t.id = removal.id
),
upserted as (
  insert into task (
    resource, thread, id, position, content, status, active_form, description, owner, metadata, blockers,
    lease_token, lease_expires_at, created_at, updated_at, completed_at, revision, change_id
  )
  select
    won.resource, won.thread, u.id, u.position, u.content, u.status, u.active_form, u.description, u.owner, u.metadata,
    u.blockers, u.lease_token, u.lease_expires_at, u.created_at, u.updated_at, u.completed_at, u.revision, u.change_id
  from unnest(
    $20::bigint[], $21::text[], $22::bigint[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[],
    $28::text[], $29::text[], $30::text[], $31::timestamptz[], $32::timestamptz[], $33::timestamptz[],
    $34::timestamptz[], $35::bigint[], $36::bigint[]
  ) as u (
    n, id, position, content, status, active_form, description, owner, metadata, blockers,
    lease_token, lease_expires_at, created_at, updated_at, completed_at, revision, change_id
  )
  join won on won.n = u.n
  on conflict (resource, thread, id) do update
  set
    position = excluded.position,
    content = excluded.content,
    status = excluded.status,
    active_form = excluded.active_form,
    description = excluded.description,
    owner = excluded.owner,
    metadata = excluded.metadata,
    blockers = excluded.blockers,
    lease_token = excluded.lease_token,
    lease_expires_at = excluded.lease_expires_at,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    completed_at = excluded.completed_at,
    revision = excluded.revision,
    change_id = excluded.change_id
),
forgotten as (
  delete from change as c
  using won
  where won.forgets_changes
    and c.resource = won.resource
    and c.thread = won.thread
),
changed as (
  insert into change (resource, thread, revision, change_id, operation, actor, at, ops)
  select won.resource, won.thread, c.revision, c.change_id, c.operation, c.actor, c.at, c.ops
  from unnest(
    $37::bigint[], $38::bigint[], $39::bigint[], $40::text[], $41::text[], $42::timestamptz[], $43::text[]
  ) as c (n, revision, change_id, operation, actor, at, ops)
  join won on won.n = c.n
),
kept as (
  insert into idempotency (resource, thread, actor, operation, key, fingerprint, answer, version, created_at)
  select won.resource, won.thread, k.actor, k.operation, k.key, k.fingerprint, k.answer, won.version, won.at
  from unnest(
    $44::bigint[], $45::text[], $46::text[], $47::text[], $48::text[], $49::text[]
  ) as k (n, actor, operation, key, fingerprint, answer)
  join won on won.n = k.n
  on conflict (resource, thread, actor, operation, key) do update
  set
    fingerprint = excluded.fingerprint,
    answer = excluded.answer,
    version = excluded.version,
    created_at = excluded.created_at
)
select n from won"#;

impl Storable for Prepared {
    type In = Postgres;

    fn key(&self) -> &ThreadKey {
        &self.key
    }

    fn size_bytes(&self) -> usize {
        Self::size_bytes(self)
    }

    async fn store(connection: &mut PgConnection, commits: &[Self]) -> Result<Vec<Committed>, StoreError> {
        let answer = async { Ok(commit(connection, commits).await) };
        // Without an answer nobody knows.
        in_time(answer).await.unwrap_or_else(|error| Err(StoreError::Unknown(error)))
    }

    fn is_about_data(error: &StoreError) -> bool {
        let StoreError::Database(error) = error else { return false };
        // 22: values; 23: constraints; 54: sizes; XX: bugs. Everything else would happen to each of them alone, too.
        let Some(code) = error.as_database_error().and_then(DatabaseError::code) else { return true };
        ["22", "23", "54", "XX"].iter().any(|class| code.starts_with(class))
    }
}

/// Stores the commits that still are in time.
pub(super) async fn commit(connection: &mut PgConnection, commits: &[Prepared]) -> Result<Vec<Committed>, StoreError> {
    let statement = bound(sqlx::query(COMMIT), commits);
    let rows = match statement.fetch_all(connection).await {
        Ok(rows) => rows,
        Err(error) if lost_a_race(&error) => return Ok(vec![Committed::Conflict; commits.len()]),
        Err(error) => return Err(commit_error(error)),
    };
    let won: Result<HashSet<i64>, sqlx::Error> = rows.iter().map(|row| row.try_get("n")).collect();
    let won = won.map_err(StoreError::Unknown)?;
    let outcome = |(n, _)| if won.contains(&n) { Committed::Done } else { Committed::Conflict };
    Ok((1..).zip(commits).map(outcome).collect())
}

/// Serialization failures and deadlocks: the database undid the statement because of another one.
fn lost_a_race(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "40001" || code == "40P01")
}

fn commit_error(error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Database(_) if !broke(&error) => StoreError::Database(error),
        // These come before anything is sent.
        sqlx::Error::Encode(_) | sqlx::Error::InvalidArgument(_) => StoreError::Database(error),
        _ => StoreError::Unknown(error),
    }
}
