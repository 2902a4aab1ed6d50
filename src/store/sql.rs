//! Statements that mean the same on both databases. What writes lists is not here: each database commits in its own way.

/// Those of one text for both.
pub(super) const SHARED: [&str; 7] =
    [CONTAINS, CHANGES, FORGET_CHANGES, FORGET_OLD_CHANGES, FORGET_OLD_ANSWERS, THREADS, PING];

/// The thread, and the answer under a key if one is asked for, in one row that is always there; then a row for each task.
/// One statement, hence one state: two could fall on both sides of a commit.
macro_rules! load {
    ($now:literal, $answer:literal, $kept:literal) => {
        concat!(
            "
select
  ",
            $now,
            " as now,
  t.version,
  t.revision,
  t.change_id,
  t.deleted_at_revision,
  t.next_number,
  t.lease_counter,
  t.total,",
            $answer,
            "
  null as id,
  null as position,
  null as content,
  null as status,
  null as active_form,
  null as description,
  null as owner,
  null as metadata,
  null as blockers,
  null as lease_token,
  null as lease_expires_at,
  null as created_at,
  null as updated_at,
  null as completed_at,
  null as task_revision,
  null as task_change_id
from (select 1 as one) as here
left join thread as t on t.resource = $1 and t.thread = $2",
            $kept,
            "
union all
select
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  id,
  position,
  content,
  status,
  active_form,
  description,
  owner,
  metadata,
  blockers,
  lease_token,
  lease_expires_at,
  created_at,
  updated_at,
  completed_at,
  revision,
  change_id
from task
where resource = $1
  and thread = $2
order by position, id"
        )
    };
}

/// Loads a list (resource, thread), given how the database tells the time.
macro_rules! load_list {
    ($now:literal) => {
        load!(
            $now,
            "
  null as fingerprint,
  null as answer,",
            ""
        )
    };
}

/// Loads a list and a kept answer (resource, thread, actor, operation, key), given how the database tells the time.
macro_rules! load_list_with_answer {
    ($now:literal) => {
        load!(
            $now,
            "
  k.fingerprint,
  k.answer,",
            "
left join idempotency as k
  on k.resource = $1
  and k.thread = $2
  and k.actor = $3
  and k.operation = $4
  and k.key = $5"
        )
    };
}

pub(super) const POSTGRES_LOAD_WITH_ANSWER: &str = load_list_with_answer!("clock_timestamp()");
pub(super) const SQLITE_LOAD: &str = load_list!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
pub(super) const SQLITE_LOAD_WITH_ANSWER: &str = load_list_with_answer!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");

/// Reads a thread's version: resource, thread. It asks for the tasks' table as well, though for no row of it: what is
/// remembered of a list must not outlive the list.
pub(super) const SQLITE_VERSION: &str = "
select
  t.version,
  strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now,
  exists (select 1 from task where 0) as unread
from (select 1 as one) as here
left join thread as t on t.resource = $1 and t.thread = $2";

/// Reads changes after a revision, oldest first: resource, thread, revision, limit.
pub(super) const CHANGES: &str = "
select
  revision,
  change_id,
  operation,
  actor,
  at,
  ops
from change
where resource = $1
  and thread = $2
  and revision > $3
order by revision
limit $4";

/// Forgets changes of a list: resource, thread, last revision.
pub(super) const FORGET_CHANGES: &str = "
delete from change
where resource = $1
  and thread = $2
  and revision <= $3";

/// Forgets some old changes, never the newest of a list: moment, limit.
pub(super) const FORGET_OLD_CHANGES: &str = "
delete from change
where (resource, thread, revision) in (
  select c.resource, c.thread, c.revision
  from change as c
  join thread as t
    on t.resource = c.resource
    and t.thread = c.thread
  where c.at < $1
    and c.revision < t.revision
  limit $2
)";

/// Forgets some old answers: moment, limit.
pub(super) const FORGET_OLD_ANSWERS: &str = "
delete from idempotency
where (resource, thread, actor, operation, key) in (
  select resource, thread, actor, operation, key
  from idempotency
  where created_at < $1
  limit $2
)";

/// Tells whether a commit left a trace: resource, thread, version.
pub(super) const CONTAINS: &str = "
select
  exists (select 1 from thread where resource = $1 and thread = $2 and version = $3)
  or exists (select 1 from change where resource = $1 and thread = $2 and change_id = $3)
  or exists (select 1 from idempotency where resource = $1 and thread = $2 and version = $3)";

/// Lists threads that exist, newest activity first: resource, minute of the place, its moment, its thread, limit.
///
/// The first comparison says nothing that the second does not, but it is the one for which there is an index.
pub(super) const THREADS: &str = "
select
  thread,
  revision,
  total,
  completed,
  in_progress,
  created_at,
  updated_at
from thread
where resource = $1
  and active_minute <= $2
  and (active_minute < $2 or updated_at < $3 or (updated_at = $3 and thread > $4))
  and revision > 0
  and deleted_at_revision is distinct from revision
order by active_minute desc, updated_at desc, thread
limit $5";

/// Reads a little from the table that everything else needs.
pub(super) const PING: &str = "select exists (select 1 from thread)";
