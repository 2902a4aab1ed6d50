//! The commit on `PostgreSQL`: one statement for any number of threads.
//!
//! It is one statement so that it is one journey and one transaction. Its shape is the one of many that neither lost a
//! commit nor stalled; each part says what goes wrong without it.

use std::collections::HashSet;

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::query::Query;
use sqlx::{Postgres, Row};

use super::broke;
use crate::domain::{ActiveForm, Change, Owner, Revision, Task, TaskId, Version};
use crate::json;
use crate::store::rows::{count, micros, minute};
use crate::store::{AnswerKey, Commit, Committed, KeptAnswer, StoreError};

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

type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// Stores the commits that still are in time.
pub(super) async fn commit(connection: &mut PgConnection, commits: &[&Commit]) -> Result<Vec<Committed>, StoreError> {
    let mut statement = bind_threads(sqlx::query(COMMIT), commits);
    statement = bind_removals(statement, &numbered(commits, |commit| removals(commit)));
    statement = bind_upserts(statement, &numbered(commits, |commit| commit.upserts.iter().map(AsRef::as_ref)));
    statement = bind_changes(statement, &numbered(commits, |commit| &commit.changes));
    statement = bind_answers(statement, &numbered(commits, |commit| &commit.answers));
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

/// Numbers parts by their commit, from 1 as the statement does.
fn numbered<'a, T, I>(commits: &[&'a Commit], parts: impl Fn(&'a Commit) -> I) -> Vec<(i64, T)>
where
    I: IntoIterator<Item = T>,
{
    (1..).zip(commits).flat_map(|(n, commit)| parts(commit).into_iter().map(move |part| (n, part))).collect()
}

/// A removal of what is stored again would meet it in the same statement, where their order is undefined.
fn removals(commit: &Commit) -> Vec<&TaskId> {
    let stored: HashSet<&TaskId> = commit.upserts.iter().map(|task| &task.id).collect();
    commit.removals.iter().filter(|id| !stored.contains(id)).collect()
}

fn column<'a, T, V>(rows: &'a [T], value: impl Fn(&'a T) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

fn bind_threads<'q>(statement: Statement<'q>, commits: &[&Commit]) -> Statement<'q> {
    let counts = column(commits, |commit| commit.list.counts());
    statement
        .bind(column(commits, |commit| commit.key.resource.as_str()))
        .bind(column(commits, |commit| commit.key.thread.as_str()))
        .bind(column(commits, |commit| commit.expected.map(Version::get)))
        .bind(column(commits, |commit| commit.version.get()))
        .bind(column(commits, |commit| commit.list.revision().get()))
        .bind(column(commits, |commit| commit.list.change_id().get()))
        .bind(column(commits, |commit| commit.list.deleted_at_revision().map(Revision::get)))
        .bind(column(commits, |commit| commit.list.counters().next_number))
        .bind(column(commits, |commit| commit.list.counters().leases))
        .bind(column(commits, |commit| commit.list.first_lease_expiry().map(micros)))
        .bind(column(&counts, |counts| count(counts.total)))
        .bind(column(&counts, |counts| count(counts.completed)))
        .bind(column(&counts, |counts| count(counts.in_progress)))
        .bind(column(commits, |commit| !commit.changes.is_empty()))
        .bind(column(commits, |commit| commit.forgets_changes))
        .bind(column(commits, |commit| micros(commit.at)))
        .bind(column(commits, |commit| minute(commit.at)))
}

fn bind_removals<'q>(statement: Statement<'q>, removals: &[(i64, &TaskId)]) -> Statement<'q> {
    statement.bind(column(removals, |(n, _)| *n)).bind(column(removals, |(_, id)| id.as_str()))
}

fn bind_upserts<'q>(statement: Statement<'q>, upserts: &[(i64, &Task)]) -> Statement<'q> {
    statement
        .bind(column(upserts, |(n, _)| *n))
        .bind(column(upserts, |(_, task)| task.id.as_str()))
        .bind(column(upserts, |(_, task)| task.position))
        .bind(column(upserts, |(_, task)| task.content.as_str()))
        .bind(column(upserts, |(_, task)| task.status.as_str()))
        .bind(column(upserts, |(_, task)| task.active_form.as_ref().map(ActiveForm::as_str)))
        .bind(column(upserts, |(_, task)| task.description.as_str()))
        .bind(column(upserts, |(_, task)| task.owner.as_ref().map(Owner::as_str)))
        .bind(column(upserts, |(_, task)| json::to_text(&task.metadata)))
        .bind(column(upserts, |(_, task)| json::to_text(&task.blockers)))
        .bind(column(upserts, |(_, task)| task.lease.as_ref().map(|lease| lease.token.as_ref())))
        .bind(column(upserts, |(_, task)| task.lease.as_ref().map(|lease| micros(lease.expires_at))))
        .bind(column(upserts, |(_, task)| micros(task.created_at)))
        .bind(column(upserts, |(_, task)| micros(task.updated_at)))
        .bind(column(upserts, |(_, task)| task.completed_at.map(micros)))
        .bind(column(upserts, |(_, task)| task.revision.get()))
        .bind(column(upserts, |(_, task)| task.change_id.get()))
}

fn bind_changes<'q>(statement: Statement<'q>, changes: &[(i64, &Change)]) -> Statement<'q> {
    statement
        .bind(column(changes, |(n, _)| *n))
        .bind(column(changes, |(_, change)| change.revision.get()))
        .bind(column(changes, |(_, change)| change.change_id.get()))
        .bind(column(changes, |(_, change)| change.operation.as_ref()))
        .bind(column(changes, |(_, change)| change.actor.as_str()))
        .bind(column(changes, |(_, change)| micros(change.at)))
        .bind(column(changes, |(_, change)| json::to_text(&change.ops)))
}

fn bind_answers<'q>(statement: Statement<'q>, answers: &[(i64, &(AnswerKey, KeptAnswer))]) -> Statement<'q> {
    statement
        .bind(column(answers, |(n, _)| *n))
        .bind(column(answers, |(_, (key, _))| key.actor.as_str()))
        .bind(column(answers, |(_, (key, _))| key.operation.as_str()))
        .bind(column(answers, |(_, (key, _))| key.key.as_str()))
        .bind(column(answers, |(_, (_, kept))| kept.fingerprint.as_str()))
        .bind(column(answers, |(_, (_, kept))| kept.answer.as_str()))
}
