//! All threads of a resource, followed.

use std::collections::{HashMap, HashSet};

use rand::RngExt;
use sqlx::{Connection, Executor, PgConnection};
use tasklane::domain::{Claim, Metadata, Operation, Owner, Revision};
use tasklane::service::{Cursor, FollowingResource, Lists, NextOfResource};

use super::{caller, change, create, process};
use crate::support::build::key;
use crate::support::database::Kind;

async fn follow(lists: &Lists, cursor: Option<Cursor>) -> FollowingResource {
    lists.follow_resource(&caller(), cursor).await.expect("the resource is followed")
}

async fn next(following: &mut FollowingResource) -> NextOfResource {
    following.next().await.expect("the store answers")
}

/// Takes the next event, which is a change.
async fn next_change(following: &mut FollowingResource) -> (String, i64, Cursor) {
    match next(following).await {
        NextOfResource::Change(thread, told, cursor) => (thread.to_string(), told.change.revision.get(), cursor),
        other => panic!("a change was to come, not {other:?}"),
    }
}

async fn next_snapshot(following: &mut FollowingResource) -> (Vec<String>, Cursor) {
    match next(following).await {
        NextOfResource::Snapshot(overview, cursor) => {
            (overview.threads.iter().map(|entry| entry.thread.to_string()).collect(), cursor)
        }
        other => panic!("a snapshot was to come, not {other:?}"),
    }
}

both_databases! {
    async fn a_reader_gets_the_threads_and_then_changes_of_each(database: TestDatabase) {
        let (lists, other) = (process(&database).await, process(&database).await);
        create(&lists, &key("default", "a"), "x").await;
        create(&lists, &key("another", "a"), "x").await;
        let mut following = follow(&lists, None).await;
        let (threads, _) = next_snapshot(&mut following).await;
        assert_eq!(threads, ["a"]);
        for (at, process) in [&lists, &other, &lists].into_iter().enumerate() {
            let thread = ["b", "a", "c"][at];
            create(process, &key("default", thread), "x").await;
            create(process, &key("another", thread), "x").await;
            let (told, revision, _) = next_change(&mut following).await;
            assert_eq!((told.as_str(), revision), (thread, if thread == "a" { 2 } else { 1 }));
        }
    }

    async fn a_reader_that_is_cut_again_and_again_misses_nothing(database: TestDatabase) {
        const CHANGES: i64 = 100;
        let processes = [process(&database).await, process(&database).await];
        let mut following = follow(&processes[0], None).await;
        let (_, mut cursor) = next_snapshot(&mut following).await;
        let threads: Vec<String> = (0..10).map(|n| format!("thread-{n}")).collect();
        let writers: Vec<_> = threads
            .iter()
            .flat_map(|thread| processes.iter().map(move |process| (process.clone(), key("default", thread))))
            .map(|(lists, key)| {
                tokio::spawn(async move {
                    for _ in 0..CHANGES / 2 {
                        create(&lists, &key, "x").await;
                    }
                })
            })
            .collect();

        let mut seen: HashMap<String, HashSet<i64>> = HashMap::new();
        let mut cuts = 0;
        while seen.values().map(HashSet::len).sum::<usize>() < 1_000 {
            let mut newest: HashMap<String, i64> = HashMap::new();
            let until_the_cut = rand::rng().random_range(1..40);
            for _ in 0..until_the_cut {
                if seen.values().map(HashSet::len).sum::<usize>() == 1_000 {
                    break;
                }
                let (thread, revision, at) = next_change(&mut following).await;
                // Nothing comes twice, or out of order, as long as the reader is not cut.
                if let Some(before) = newest.insert(thread.clone(), revision) {
                    assert_eq!(revision, before + 1);
                }
                let revisions = seen.entry(thread).or_default();
                assert!(revision == 1 || revisions.contains(&(revision - 1)), "{revision}");
                revisions.insert(revision);
                cursor = at;
            }
            cuts += 1;
            following = follow(&processes[cuts % 2], Some(cursor)).await;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        assert!(threads.iter().all(|thread| seen[thread].len() == 100));
    }

    async fn a_transaction_that_stays_open_neither_delays_a_change_nor_hides_one(database: TestDatabase) {
        if database.kind() != Kind::Postgres {
            return;
        }
        let lists = process(&database).await;
        let mut following = follow(&lists, None).await;
        let (_, begin) = next_snapshot(&mut following).await;
        let mut elsewhere = PgConnection::connect(database.url()).await.unwrap();
        elsewhere.execute("begin").await.unwrap();
        // Takes a number before the changes below do, and becomes visible after them.
        elsewhere
            .execute(
                "insert into thread (resource, thread, version, revision, change_id, next_number, lease_counter,
                   active_minute, total, completed, in_progress, created_at, updated_at)
                 values ('default', 'late', 1, 1, 1, 1, 0, 0, 0, 0, 0, now(), now());
                 insert into change (resource, thread, revision, change_id, operation, actor, at, ops)
                 values ('default', 'late', 1, 1, 'task_write', 'a', now(), '[]')",
            )
            .await
            .unwrap();
        let mut cursor = begin;
        for revision in 1..=3 {
            create(&lists, &key("default", "t"), "x").await;
            let (thread, told, at) = next_change(&mut following).await;
            assert_eq!((thread.as_str(), told), ("t", revision));
            cursor = at;
        }
        elsewhere.execute("commit").await.unwrap();
        let (thread, revision, _) = next_change(&mut following).await;
        assert_eq!((thread.as_str(), revision), ("late", 1));
        // A reader that left before it became visible is told of it, and may be told of others again.
        let mut again = follow(&lists, Some(cursor)).await;
        while next_change(&mut again).await.0 != "late" {}
    }

    async fn a_deleted_thread_is_reset_and_so_is_one_whose_changes_are_not_kept(database: TestDatabase) {
        let lists = process(&database).await;
        let (gone, old) = (key("default", "gone"), key("default", "old"));
        let mut following = follow(&lists, None).await;
        let (_, cursor) = next_snapshot(&mut following).await;
        create(&lists, &gone, "x").await;
        next_change(&mut following).await;
        change(&lists, &gone, Operation::DeleteThread).await;
        let NextOfResource::Reset(thread, list, _) = next(&mut following).await else { panic!("a reset was to come") };
        assert_eq!((thread, list.revision(), list.tasks().len()), (gone.thread, Revision::new(2), 0));

        for _ in 0..3 {
            create(&lists, &old, "x").await;
        }
        database.open().await.forget_changes(&old, Revision::new(2)).await.unwrap();
        let mut late = follow(&lists, Some(cursor)).await;
        let mut resets = Vec::new();
        for _ in 0..2 {
            let NextOfResource::Reset(thread, list, _) = next(&mut late).await else { panic!("a reset was to come") };
            resets.push((thread.to_string(), list.revision().get()));
        }
        resets.sort();
        assert_eq!(resets, [("gone".to_owned(), 2), ("old".to_owned(), 3)]);
    }

    async fn a_cursor_that_is_too_old_or_from_elsewhere_is_reset_to_all_threads(database: TestDatabase) {
        let lists = process(&database).await;
        create(&lists, &key("default", "t"), "x").await;
        let cursors = ["1.1.0", "1.7fffffffffffffff.7fffffff"].map(|text| text.parse::<Cursor>().unwrap());
        for cursor in cursors {
            let mut following = follow(&lists, Some(cursor)).await;
            let NextOfResource::ResetAll(overview, _) = next(&mut following).await else {
                panic!("a reset was to come")
            };
            assert_eq!(overview.threads.len(), 1);
        }
    }

    async fn whoever_follows_a_resource_learns_that_a_lease_has_ended(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        create(&lists, &key, "a").await;
        let mut following = follow(&lists, None).await;
        next_snapshot(&mut following).await;
        let claim =
            Claim { owner: Owner::parse("w").unwrap(), id: None, lease_seconds: 1, metadata: Metadata::default() };
        change(&lists, &key, Operation::Claim(claim)).await;
        assert_eq!(next_change(&mut following).await.1, 2);
        assert_eq!(next_change(&mut following).await.1, 3);
    }
}
