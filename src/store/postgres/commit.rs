//! The commit on `PostgreSQL`: one statement for any number of threads.
//!
//! It is one statement so that it is one journey and one transaction. Its shape is the one of many that neither lost a
//! commit nor stalled; its parts say what goes wrong without them.

use std::collections::HashSet;

use sqlx::error::DatabaseError;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Postgres, Row};

use super::columns::bound;
use super::prepared::Prepared;
use super::{broke, in_time};
use crate::domain::ThreadKey;
use crate::store::write::Storable;
use crate::store::{Committed, StoreError};

/// Which parts of the statement a batch needs. A part that finds nothing to do still costs about as much as a commit.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each part is there or not, whatever the others are")]
pub(super) struct Parts {
    births: bool,
    removals: bool,
    forgets: bool,
    answers: bool,
}

impl Parts {
    pub(super) const ALL: Self = Self { births: true, removals: true, forgets: true, answers: true };

    fn of(commits: &[Prepared]) -> Self {
        Self {
            births: commits.iter().any(|commit| commit.expected.is_none()),
            removals: commits.iter().any(|commit| !commit.removals.is_empty()),
            forgets: commits.iter().any(|commit| commit.forgets_changes),
            answers: commits.iter().any(|commit| !commit.answers.is_empty()),
        }
    }

    /// Puts the statement together. Its parameters have the same numbers whichever parts stand in it.
    pub(super) fn statement(self) -> String {
        let (born, born_too) = if self.births { (BORN, BORN_TOO) } else { ("", "") };
        let when = |is_needed, part| if is_needed { part } else { "" };
        let removed = when(self.removals, REMOVED);
        let forgotten = when(self.forgets, FORGOTTEN);
        let kept = when(self.answers, KEPT);
        ["with", MOVED, born, WON, born_too, WON_END, UPSERTED, CHANGED, removed, forgotten, kept, RESULT].concat()
    }
}

/// `locked` compares the version in the very scan that takes the lock: compared later, it would be the version of a snapshot
/// that another commit has overtaken. It takes locks in the order of the keys, and leaves out threads that somebody else is
/// committing to: two statements can neither wait for each other in a circle nor queue.
///
/// `moved` finds the rows where they were locked. What belongs to one commit is found by its number in each array, here and
/// in all other parts: joining the parts by numbers would cost with the square of the batch.
const MOVED: &str = "
locked as materialized (
  select asked.n, t.ctid as place
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as asked (resource, thread, expected, n)
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
    version = ($4::bigint[])[l.n],
    revision = ($5::bigint[])[l.n],
    change_id = ($6::bigint[])[l.n],
    deleted_at_revision = ($7::bigint[])[l.n],
    next_number = ($8::bigint[])[l.n],
    lease_counter = ($9::bigint[])[l.n],
    lease_expires_at = ($10::timestamptz[])[l.n],
    total = case when ($14::boolean[])[l.n] then ($11::bigint[])[l.n] else t.total end,
    completed = case when ($14::boolean[])[l.n] then ($12::bigint[])[l.n] else t.completed end,
    in_progress = case when ($14::boolean[])[l.n] then ($13::bigint[])[l.n] else t.in_progress end,
    created_at = case when t.revision = 0 then ($16::timestamptz[])[l.n] else t.created_at end,
    updated_at = case
      when ($14::boolean[])[l.n] then greatest(t.updated_at, ($16::timestamptz[])[l.n])
      else t.updated_at
    end,
    active_minute = case
      when ($14::boolean[])[l.n] then greatest(t.active_minute, ($17::bigint[])[l.n])
      else t.active_minute
    end
  from locked as l
  where t.ctid = l.place
  returning l.n
),";

/// Makes a thread only where none was read, in the order of the keys, for a birth does wait for another one of the same
/// thread. Whoever comes second makes nothing: an update here would add to a list that was never read.
const BORN: &str = r#"
born as (
  insert into thread (
    resource, thread, version, revision, change_id, deleted_at_revision, next_number, lease_counter,
    lease_expires_at, total, completed, in_progress, created_at, updated_at, active_minute
  )
  select
    asked.resource, asked.thread, ($4::bigint[])[n], ($5::bigint[])[n], ($6::bigint[])[n], ($7::bigint[])[n],
    ($8::bigint[])[n], ($9::bigint[])[n], ($10::timestamptz[])[n], ($11::bigint[])[n], ($12::bigint[])[n],
    ($13::bigint[])[n], ($16::timestamptz[])[n], ($16::timestamptz[])[n], ($17::bigint[])[n]
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as asked (resource, thread, expected, n)
  where asked.expected is null
  order by asked.resource collate "C", asked.thread collate "C"
  on conflict do nothing
  returning version
),"#;

/// The numbers of the commits that happen. Every other part asks for them, so that a lost commit leaves nothing at all.
const WON: &str = "
won as materialized (
  select array_agg(n) as numbers
  from (
    select n from moved";

/// A new thread is known by its version, which no other commit has.
const BORN_TOO: &str = "
    union all
    select array_position($4::bigint[], version) from born";

const WON_END: &str = "
  ) as one
),";

const UPSERTED: &str = "
upserted as (
  insert into task (
    resource, thread, id, position, content, status, active_form, description, owner, metadata, blockers,
    lease_token, lease_expires_at, created_at, updated_at, completed_at, revision, change_id
  )
  select
    ($1::text[])[u.n], ($2::text[])[u.n], u.id, u.position, u.content, u.status, u.active_form, u.description,
    u.owner, u.metadata, u.blockers, u.lease_token, u.lease_expires_at, u.created_at, u.updated_at, u.completed_at,
    u.revision, u.change_id
  from won, unnest(
    $20::bigint[], $21::text[], $22::bigint[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[],
    $28::text[], $29::text[], $30::text[], $31::timestamptz[], $32::timestamptz[], $33::timestamptz[],
    $34::timestamptz[], $35::bigint[], $36::bigint[]
  ) as u (
    n, id, position, content, status, active_form, description, owner, metadata, blockers,
    lease_token, lease_expires_at, created_at, updated_at, completed_at, revision, change_id
  )
  where u.n = any(won.numbers)
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
),";

const CHANGED: &str = "
changed as (
  insert into change (resource, thread, revision, change_id, operation, actor, at, ops)
  select ($1::text[])[c.n], ($2::text[])[c.n], c.revision, c.change_id, c.operation, c.actor, c.at, c.ops
  from won, unnest(
    $37::bigint[], $38::bigint[], $39::bigint[], $40::text[], $41::text[], $42::timestamptz[], $43::text[]
  ) as c (n, revision, change_id, operation, actor, at, ops)
  where c.n = any(won.numbers)
)";

const REMOVED: &str = ",
removed as (
  delete from task as t
  using won, unnest($18::bigint[], $19::text[]) as removal (n, id)
  where removal.n = any(won.numbers)
    and t.resource = ($1::text[])[removal.n]
    and t.thread = ($2::text[])[removal.n]
    and t.id = removal.id
)";

const FORGOTTEN: &str = ",
forgotten as (
  delete from change as c
  using won, unnest($15::boolean[]) with ordinality as asked (forgets_changes, n)
  where asked.forgets_changes
    and asked.n = any(won.numbers)
    and c.resource = ($1::text[])[asked.n]
    and c.thread = ($2::text[])[asked.n]
)";

const KEPT: &str = ",
kept as (
  insert into idempotency (resource, thread, actor, operation, key, fingerprint, answer, version, created_at)
  select
    ($1::text[])[k.n], ($2::text[])[k.n], k.actor, k.operation, k.key, k.fingerprint, k.answer, ($4::bigint[])[k.n],
    ($16::timestamptz[])[k.n]
  from won, unnest(
    $44::bigint[], $45::text[], $46::text[], $47::text[], $48::text[], $49::text[]
  ) as k (n, actor, operation, key, fingerprint, answer)
  where k.n = any(won.numbers)
  on conflict (resource, thread, actor, operation, key) do update
  set
    fingerprint = excluded.fingerprint,
    answer = excluded.answer,
    version = excluded.version,
    created_at = excluded.created_at
)";

const RESULT: &str = "
select unnest(numbers) as n from won";

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
    let text = Parts::of(commits).statement();
    // Nothing in it comes from outside.
    let statement = bound(sqlx::query(AssertSqlSafe(text)), commits);
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
