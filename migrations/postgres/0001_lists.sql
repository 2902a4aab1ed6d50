-- Every table starts its key with resource and thread, and no foreign key leads from one to another, so that all of them
-- can be distributed by thread. Key columns are compared byte by byte: no locale decides which ids are the same, or how
-- they are ordered.

-- One row for each thread that was ever written. It stays when the thread is deleted: its numbers never come back.
create table thread (
  resource text collate "C" not null,
  thread text collate "C" not null,
  -- Random and renewed by every commit, which names the one that it read. A revision would not do: after a failover that
  -- lost a commit the same number is counted again.
  version bigint not null,
  revision bigint not null,
  -- The version of the commit that made this revision.
  change_id bigint not null,
  deleted_at_revision bigint,
  -- The number that the next task without an id gets.
  next_number bigint not null,
  lease_counter bigint not null,
  -- When the first of the list's leases ends, so that whoever loads the list learns of it from this row alone.
  lease_expires_at timestamptz,
  -- Minutes since 1970 of updated_at. Listings use an index on this column, which is rewritten at most once a minute: one
  -- on updated_at would change with every commit, and no update could stay on its page.
  active_minute bigint not null,
  -- Counted here so that listings do not read tasks.
  total bigint not null,
  completed bigint not null,
  in_progress bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint thread_pkey primary key (resource, thread),
  constraint thread_revision check (revision >= 0),
  constraint thread_counts check (completed >= 0 and in_progress >= 0 and completed + in_progress <= total)
)
-- Each commit writes its thread's row anew: room on the page keeps the indexes out of it.
with (fillfactor = 70);

create index thread_by_activity on thread (resource, active_minute desc);
-- For those who wait for a lease to end. Rows of lists that nobody claims from are not in it.
create index thread_by_lease on thread (resource, lease_expires_at) where lease_expires_at is not null;

create table task (
  resource text collate "C" not null,
  thread text collate "C" not null,
  id text collate "C" not null,
  -- Ascending within the list, with gaps. Not unique: a commit may swap two of them.
  position bigint not null,
  content text not null,
  status text not null,
  -- Null where none was ever given: it then follows the content.
  active_form text,
  description text not null,
  owner text,
  -- A JSON object as text: json would do, jsonb would turn 1E5 into 100000 and reorder keys.
  metadata text not null,
  -- A JSON array of the ids of all tasks that must be completed before this one.
  blockers text not null,
  lease_token text,
  lease_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  -- The list's revision when the task last read differently, and the change that made it.
  revision bigint not null,
  change_id bigint not null,
  constraint task_pkey primary key (resource, thread, id),
  constraint task_status check (status in ('pending', 'in_progress', 'completed')),
  constraint task_lease check ((lease_token is null) = (lease_expires_at is null))
)
-- A changed task stays on its page.
with (fillfactor = 85);

-- What readers can see of every commit, in the same transaction as what it did.
create table change (
  resource text collate "C" not null,
  thread text collate "C" not null,
  revision bigint not null,
  -- The version of the commit that stored it.
  change_id bigint not null,
  operation text not null,
  actor text not null,
  at timestamptz not null,
  -- A JSON array of steps.
  ops text not null,
  -- Where a reader of all threads of a resource stands: transactions that are older than every running one are complete,
  -- while a sequence hands out numbers that become visible in another order.
  xid xid8 not null default pg_current_xact_id(),
  constraint change_pkey primary key (resource, thread, revision)
);

create index change_by_xid on change (resource, xid);
-- For removal by age: a block range index costs an insert next to nothing, and rows come in the order of their time.
create index change_by_time on change using brin (at);

-- Answers to calls that may be repeated, each stored by the commit that it tells of.
create table idempotency (
  resource text collate "C" not null,
  thread text collate "C" not null,
  actor text collate "C" not null,
  operation text collate "C" not null,
  key text collate "C" not null,
  -- Tells the same call from another one under the same key.
  fingerprint text not null,
  answer text not null,
  -- The version of the commit that stored it.
  version bigint not null,
  created_at timestamptz not null,
  constraint idempotency_pkey primary key (resource, thread, actor, operation, key)
);

create index idempotency_by_time on idempotency (created_at);
