//! The commit on `SQLite`: one statement a row, inside a transaction that is the only writer.

use sqlx::Sqlite;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};

use super::{begin, is_busy, primary_code, read_error};
use crate::domain::{Change, Revision, Task, ThreadKey};
use crate::json;
use crate::store::rows::{count, micros, minute};
use crate::store::write::Storable;
use crate::store::{AnswerKey, Commit, Committed, KeptAnswer, StoreError};

/// Moves the thread on if its version is the expected one.
pub(super) const MOVE_THREAD: &str = "
update thread
set
  version = $3,
  revision = $4,
  change_id = $5,
  deleted_at_revision = $6,
  next_number = $7,
  lease_counter = $8,
  lease_expires_at = $9,
  active_minute = case when $15 then max(active_minute, $14) else active_minute end,
  total = case when $15 then $10 else total end,
  completed = case when $15 then $11 else completed end,
  in_progress = case when $15 then $12 else in_progress end,
  created_at = case when revision = 0 then $13 else created_at end,
  updated_at = case when $15 then max(updated_at, $13) else updated_at end
where resource = $1
  and thread = $2
  and version = $16";

/// Makes the thread if there is none.
pub(super) const BEAR_THREAD: &str = "
insert into thread (
  resource, thread, version, revision, change_id, deleted_at_revision, next_number,
  lease_counter, lease_expires_at, total, completed, in_progress, created_at, updated_at, active_minute
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)
on conflict do nothing";

pub(super) const REMOVE_TASK: &str = "
delete from task
where resource = $1
  and thread = $2
  and id = $3";

pub(super) const UPSERT_TASK: &str = "
insert into task (
  resource, thread, id, position, content, status, active_form, description, owner, metadata, blockers,
  lease_token, lease_expires_at, created_at, updated_at, completed_at, revision, change_id
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
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
  change_id = excluded.change_id";

pub(super) const FORGET_CHANGES: &str = "
delete from change
where resource = $1
  and thread = $2";

pub(super) const INSERT_CHANGE: &str = "
insert into change (resource, thread, revision, change_id, operation, actor, at, ops)
values ($1, $2, $3, $4, $5, $6, $7, $8)";

pub(super) const KEEP_ANSWER: &str = "
insert into idempotency (resource, thread, actor, operation, key, fingerprint, answer, version, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (resource, thread, actor, operation, key) do update
set
  fingerprint = excluded.fingerprint,
  answer = excluded.answer,
  version = excluded.version,
  created_at = excluded.created_at";

type Statement<'q> = Query<'q, Sqlite, SqliteArguments>;

impl Storable for Commit {
    type In = Sqlite;

    fn key(&self) -> &ThreadKey {
        &self.key
    }

    fn size_bytes(&self) -> usize {
        self.upserts.iter().map(|task| task.size_bytes()).sum()
    }

    async fn store(connection: &mut SqliteConnection, commits: &[Self]) -> Result<Vec<Committed>, StoreError> {
        let mut transaction = begin(connection).await.map_err(read_error)?;
        let mut outcomes = Vec::with_capacity(commits.len());
        for one in commits {
            outcomes.push(commit(&mut transaction, one).await.map_err(read_error)?);
        }
        // What was written before it failed to end may count once the file is opened again.
        let end = transaction.commit().await;
        end.map_err(|error| if is_busy(&error) { StoreError::Unavailable(error) } else { StoreError::Unknown(error) })?;
        Ok(outcomes)
    }

    fn is_about_data(error: &StoreError) -> bool {
        let StoreError::Database(error) = error else { return false };
        // Too big, against a constraint, of another type. Everything else would happen to each of them alone, too.
        primary_code(error).is_none_or(|code| matches!(code, 18..=20))
    }
}

/// Stores a commit if it still is in time.
async fn commit(connection: &mut SqliteConnection, commit: &Commit) -> Result<Committed, sqlx::Error> {
    let threads = match commit.expected {
        Some(expected) => thread(MOVE_THREAD, commit).bind(!commit.changes.is_empty()).bind(expected.get()),
        None => thread(BEAR_THREAD, commit),
    };
    if threads.execute(&mut *connection).await?.rows_affected() == 0 {
        return Ok(Committed::Conflict);
    }
    for id in &commit.removals {
        of_thread(REMOVE_TASK, &commit.key).bind(id.as_str()).execute(&mut *connection).await?;
    }
    for task in &commit.upserts {
        upsert(&commit.key, task).execute(&mut *connection).await?;
    }
    if commit.forgets_changes {
        of_thread(FORGET_CHANGES, &commit.key).execute(&mut *connection).await?;
    }
    for change in &commit.changes {
        insert_change(&commit.key, change).execute(&mut *connection).await?;
    }
    for (key, kept) in &commit.answers {
        keep_answer(commit, key, kept).execute(&mut *connection).await?;
    }
    Ok(Committed::Done)
}

fn of_thread<'q>(statement: &'static str, key: &ThreadKey) -> Statement<'q> {
    sqlx::query(statement).bind(key.resource.to_string()).bind(key.thread.to_string())
}

fn thread<'q>(statement: &'static str, commit: &Commit) -> Statement<'q> {
    let list = &commit.list;
    let counts = list.counts();
    of_thread(statement, &commit.key)
        .bind(commit.version.get())
        .bind(list.revision().get())
        .bind(list.change_id().get())
        .bind(list.deleted_at_revision().map(Revision::get))
        .bind(list.counters().next_number)
        .bind(list.counters().leases)
        .bind(list.first_lease_expiry().map(micros))
        .bind(count(counts.total))
        .bind(count(counts.completed))
        .bind(count(counts.in_progress))
        .bind(micros(commit.at))
        .bind(minute(commit.at))
}

fn upsert<'q>(key: &ThreadKey, task: &Task) -> Statement<'q> {
    of_thread(UPSERT_TASK, key)
        .bind(task.id.to_string())
        .bind(task.position)
        .bind(task.content.to_string())
        .bind(task.status.as_str())
        .bind(task.active_form.as_ref().map(ToString::to_string))
        .bind(task.description.to_string())
        .bind(task.owner.as_ref().map(ToString::to_string))
        .bind(json::to_text(&task.metadata))
        .bind(json::to_text(&task.blockers))
        .bind(task.lease.as_ref().map(|lease| lease.token.to_string()))
        .bind(task.lease.as_ref().map(|lease| micros(lease.expires_at)))
        .bind(micros(task.created_at))
        .bind(micros(task.updated_at))
        .bind(task.completed_at.map(micros))
        .bind(task.revision.get())
        .bind(task.change_id.get())
}

fn insert_change<'q>(key: &ThreadKey, change: &Change) -> Statement<'q> {
    of_thread(INSERT_CHANGE, key)
        .bind(change.revision.get())
        .bind(change.change_id.get())
        .bind(change.operation.as_ref())
        .bind(change.actor.to_string())
        .bind(micros(change.at))
        .bind(json::to_text(&change.ops))
}

fn keep_answer<'q>(commit: &Commit, key: &AnswerKey, kept: &KeptAnswer) -> Statement<'q> {
    of_thread(KEEP_ANSWER, &commit.key)
        .bind(key.actor.to_string())
        .bind(key.operation.clone())
        .bind(key.key.clone())
        .bind(kept.fingerprint.clone())
        .bind(kept.answer.clone())
        .bind(commit.version.get())
        .bind(micros(commit.at))
}
