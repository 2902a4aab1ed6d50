//! Lists, read many at a time: one statement for any number of threads, each with the version that its reader knows.

use std::collections::HashMap;
use std::collections::VecDeque;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Postgres, Row};
use tokio::sync::oneshot;

use super::{in_time, read_error};
use crate::domain::{ThreadKey, Version};
use crate::store::queue::Job;
use crate::store::{Loaded, Refreshed, StoreError, rows};

/// The most lists of one statement.
const LISTS_MAX: usize = 256;
/// The most of them that are read whole for certain: a thousand tasks each would be a lot to hold at once.
const LOADS_MAX: usize = 32;

/// The moment, in a row of its own; then of each list whose version is not the known one its thread, and then its tasks.
/// Of a list that is as its reader knows it nothing comes. One statement, hence one state.
pub(super) const READ: &str = "
with asked as (
  select *
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as asked (resource, thread, known, n)
),
found as materialized (
  select
    asked.n,
    asked.resource,
    asked.thread,
    t.version,
    t.revision,
    t.change_id,
    t.deleted_at_revision,
    t.next_number,
    t.lease_counter,
    t.total
  from asked
  left join thread as t
    on t.resource = asked.resource
    and t.thread = asked.thread
  where asked.known is null
    or t.version is distinct from asked.known
)
select
  0::bigint as n,
  clock_timestamp() as now,
  null::bigint as version,
  null::bigint as revision,
  null::bigint as change_id,
  null::bigint as deleted_at_revision,
  null::bigint as next_number,
  null::bigint as lease_counter,
  null::bigint as total,
  null::text as fingerprint,
  null::text as answer,
  null::text as id,
  null::bigint as position,
  null::text as content,
  null::text as status,
  null::text as active_form,
  null::text as description,
  null::text as owner,
  null::text as metadata,
  null::text as blockers,
  null::text as lease_token,
  null::timestamptz as lease_expires_at,
  null::timestamptz as created_at,
  null::timestamptz as updated_at,
  null::timestamptz as completed_at,
  null::bigint as task_revision,
  null::bigint as task_change_id
union all
select
  n,
  null,
  version,
  revision,
  change_id,
  deleted_at_revision,
  next_number,
  lease_counter,
  total,
  null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
from found
union all
select
  found.n,
  null, null, null, null, null, null, null, null, null, null,
  task.id,
  task.position,
  task.content,
  task.status,
  task.active_form,
  task.description,
  task.owner,
  task.metadata,
  task.blockers,
  task.lease_token,
  task.lease_expires_at,
  task.created_at,
  task.updated_at,
  task.completed_at,
  task.revision,
  task.change_id
from found
join task
  on task.resource = found.resource
  and task.thread = found.thread
order by n, position nulls first, id";

/// A wish to read one list.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) key: ThreadKey,
    /// The version that the reader has already, if any.
    pub(super) known: Option<Version>,
    pub(super) reply: oneshot::Sender<Result<Refreshed, StoreError>>,
}

impl Job<Postgres> for Read {
    const BATCH_MAX: usize = LISTS_MAX;

    fn take(waiting: &mut VecDeque<Self>) -> Vec<Self> {
        let mut batch = Vec::with_capacity(waiting.len().min(LISTS_MAX));
        let mut loads = 0;
        while let Some(next) = waiting.pop_front_if(|next| loads < LOADS_MAX || next.known.is_some()) {
            loads += usize::from(next.known.is_none());
            batch.push(next);
            if batch.len() == LISTS_MAX {
                break;
            }
        }
        batch
    }

    async fn work(connection: &mut PgConnection, batch: Vec<Self>) -> bool {
        let wishes = Wishes::of(batch);
        match in_time(wishes.rows(connection)).await {
            Ok(rows) => {
                wishes.answer(&rows);
                true
            }
            Err(error) => {
                let error = read_error(error);
                let is_good = matches!(error, StoreError::Database(_));
                wishes.replies.into_iter().flatten().for_each(|reply| drop(reply.send(Err(error.for_another()))));
                is_good
            }
        }
    }

    fn give_up(self, error: StoreError) {
        // Whoever asked may be gone.
        let _ = self.reply.send(Err(error));
    }
}

type Reply = oneshot::Sender<Result<Refreshed, StoreError>>;

/// What a batch asks for: each list once for all who know the same version of it.
struct Wishes {
    lists: Vec<(ThreadKey, Option<Version>)>,
    replies: Vec<Vec<Reply>>,
}

impl Wishes {
    fn of(batch: Vec<Read>) -> Self {
        let mut places: HashMap<(ThreadKey, Option<Version>), usize> = HashMap::with_capacity(batch.len());
        let mut replies: Vec<Vec<Reply>> = Vec::with_capacity(batch.len());
        for Read { key, known, reply } in batch {
            let next = replies.len();
            match replies.get_mut(*places.entry((key, known)).or_insert(next)) {
                Some(replies) => replies.push(reply),
                None => replies.push(vec![reply]),
            }
        }
        let mut lists: Vec<_> = places.into_iter().collect();
        lists.sort_unstable_by_key(|(_, place)| *place);
        Self { lists: lists.into_iter().map(|(list, _)| list).collect(), replies }
    }

    async fn rows(&self, connection: &mut PgConnection) -> Result<Vec<PgRow>, sqlx::Error> {
        let column = |value: fn(&ThreadKey) -> &str| self.lists.iter().map(|(key, _)| value(key)).collect::<Vec<_>>();
        let known: Vec<Option<i64>> = self.lists.iter().map(|(_, known)| known.map(Version::get)).collect();
        sqlx::query(READ)
            .bind(column(|key| key.resource.as_str()))
            .bind(column(|key| key.thread.as_str()))
            .bind(known)
            .fetch_all(connection)
            .await
    }

    /// Answers everybody. The rows of each list stand together, in the order in which the lists were asked for.
    fn answer(self, rows: &[PgRow]) {
        let place = |row: &PgRow| row.try_get::<i64, _>("n").unwrap_or_default();
        let mut groups = rows.chunk_by(|one, other| place(one) == place(other)).peekable();
        let at = groups.next().and_then(|moment| moment.first()).and_then(|row| row.try_get("now").ok());
        for (n, ((key, known), replies)) in (1..).zip(self.lists.into_iter().zip(self.replies)) {
            let group = groups.next_if(|group| group.first().is_some_and(|row| place(row) == n));
            let refreshed = match (at, known, group) {
                (Some(at), Some(_), None) => Ok(Refreshed::Same { at }),
                (_, _, group) => rows::loaded(group.unwrap_or_default(), &key, at).map(Refreshed::Other),
            };
            give(replies, refreshed);
        }
    }
}

/// Gives the same answer to all; the last one gets it as it is.
fn give(mut replies: Vec<Reply>, refreshed: Result<Refreshed, StoreError>) {
    let last = replies.pop();
    for reply in replies {
        let again = refreshed.as_ref().map(Clone::clone).map_err(StoreError::for_another);
        // Whoever asked may be gone.
        let _ = reply.send(again);
    }
    if let Some(reply) = last {
        let _ = reply.send(refreshed);
    }
}

/// Returns the list that a reader who knows nothing got.
pub(super) fn loaded(refreshed: Refreshed) -> Loaded {
    match refreshed {
        Refreshed::Other(loaded) => loaded,
        Refreshed::Same { at } => Loaded { at, ..Loaded::default() },
    }
}
