-- The same tables as on PostgreSQL, where the comments on them are. Texts are compared byte by byte by default. Times are
-- texts in RFC 3339, UTC, all written by one function, so that they are ordered like the moments they stand for.

-- Rows of one thread lie next to each other, since a load reads them all.
create table thread (
  resource text not null,
  thread text not null,
  version integer not null,
  revision integer not null,
  change_id integer not null,
  deleted_at_revision integer,
  next_number integer not null,
  lease_counter integer not null,
  lease_expires_at text,
  active_minute integer not null,
  total integer not null,
  completed integer not null,
  in_progress integer not null,
  created_at text not null,
  updated_at text not null,
  constraint thread_pkey primary key (resource, thread),
  constraint thread_revision check (revision >= 0),
  constraint thread_counts check (completed >= 0 and in_progress >= 0 and completed + in_progress <= total)
) strict, without rowid;

create index thread_by_activity on thread (resource, active_minute desc);
create index thread_by_lease on thread (resource, lease_expires_at) where lease_expires_at is not null;

create table task (
  resource text not null,
  thread text not null,
  id text not null,
  position integer not null,
  content text not null,
  status text not null,
  active_form text,
  description text not null,
  owner text,
  metadata text not null,
  blockers text not null,
  lease_token text,
  lease_expires_at text,
  created_at text not null,
  updated_at text not null,
  completed_at text,
  revision integer not null,
  change_id integer not null,
  constraint task_pkey primary key (resource, thread, id),
  constraint task_status check (status in ('pending', 'in_progress', 'completed')),
  constraint task_lease check ((lease_token is null) = (lease_expires_at is null))
) strict, without rowid;

create table change (
  -- Where a reader of all threads of a resource stands. There is one writer at a time, so that these numbers become
  -- visible in their order; and none is given twice, even after the newest row was removed.
  place integer primary key autoincrement,
  resource text not null,
  thread text not null,
  revision integer not null,
  change_id integer not null,
  operation text not null,
  actor text not null,
  at text not null,
  ops text not null,
  constraint change_key unique (resource, thread, revision)
) strict;

create index change_by_place on change (resource, place);
create index change_by_time on change (at);

create table idempotency (
  resource text not null,
  thread text not null,
  actor text not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  answer text not null,
  version integer not null,
  created_at text not null,
  constraint idempotency_pkey primary key (resource, thread, actor, operation, key)
) strict;

create index idempotency_by_time on idempotency (created_at);
