//! Changes reach the readers of every process, whatever happens to the words between them.

use rand::RngExt;
use tasklane::domain::ThreadKey;
use tasklane::service::{Lists, Next};

use super::{change, create, creation, follow, next, next_revision, process, silent_process};
use crate::support::build::key;
use crate::support::database::Kind;

const CHANGES: i64 = 5_000;
const CUTS: usize = 200;

/// Changes the list from several callers at a time, `count` times in all.
fn write(lists: &Lists, key: &ThreadKey, count: i64) -> Vec<tokio::task::JoinHandle<()>> {
    const CALLERS: i64 = 25;
    (0..CALLERS)
        .map(|_| {
            let (lists, key) = (lists.clone(), key.clone());
            tokio::spawn(async move {
                for at in 0..count / CALLERS {
                    // A list that stays small, so that this is about changes and not about large lists.
                    let done = change(&lists, &key, creation("a task")).await;
                    if at % 4 == 3 || done.list.tasks().len() > 100 {
                        let clear = tasklane::domain::Operation::Delete(done.outcome.task.expect("the new task"));
                        change(&lists, &key, clear).await;
                    }
                }
            })
        })
        .collect()
}

both_databases! {
    async fn a_reader_that_is_cut_again_and_again_sees_each_revision_once_and_in_order(database: TestDatabase) {
        let processes = [process(&database).await, process(&database).await];
        let key = key("default", "t");
        let mut writers = write(&processes[0], &key, CHANGES / 2);
        writers.extend(write(&processes[1], &key, CHANGES / 2));

        let (mut seen, mut cuts) = (0, 0);
        while seen < CHANGES {
            let mut following = follow(&processes[cuts % 2], &key, Some(seen)).await;
            let until = if cuts < CUTS { seen + rand::rng().random_range(0..40) } else { CHANGES };
            while seen < until.min(CHANGES) {
                let revision = next_revision(&mut following).await;
                assert_eq!(revision, seen + 1);
                seen = revision;
            }
            cuts += 1;
        }
        assert!(cuts >= CUTS, "{cuts}");
        for writer in writers {
            writer.await.unwrap();
        }
    }

    async fn a_lost_word_delays_a_change_but_never_loses_it(database: TestDatabase) {
        let (silent, listening) = (silent_process(&database).await, process(&database).await);
        let key = key("default", "t");
        let mut following = follow(&listening, &key, None).await;
        assert!(matches!(next(&mut following).await, Next::Snapshot(_)));
        for revision in 1..=3 {
            create(&silent, &key, "a").await;
            assert_eq!(next_revision(&mut following).await, revision);
        }
    }

    async fn processes_that_cannot_tell_each_other_look_for_themselves(database: TestDatabase) {
        let (one, other) = (silent_process(&database).await, silent_process(&database).await);
        let key = key("default", "t");
        let mut following = follow(&other, &key, Some(0)).await;
        for revision in 1..=20 {
            create(&one, &key, "a").await;
            assert_eq!(next_revision(&mut following).await, revision);
        }
    }

    async fn nothing_is_missed_while_the_words_between_processes_stop(database: TestDatabase) {
        let (one, other) = (process(&database).await, process(&database).await);
        let key = key("default", "t");
        let mut following = follow(&other, &key, Some(0)).await;
        create(&one, &key, "a").await;
        assert_eq!(next_revision(&mut following).await, 1);
        for revision in 2..=100 {
            if revision % 20 == 0 && database.kind() == Kind::Postgres {
                database
                    .execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity
                         where datname = current_database() and (query ilike 'listen%' or query ilike '%pg_notify%')
                           and pid <> pg_backend_pid()",
                    )
                    .await;
            }
            create(&one, &key, "a").await;
            assert_eq!(next_revision(&mut following).await, revision);
        }
    }

    async fn a_database_that_lost_changes_is_followed_as_it_is(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        for _ in 0..3 {
            create(&lists, &key, "a").await;
        }
        let mut following = follow(&lists, &key, Some(3)).await;
        // As after a failover to a standby that had not received the last two changes.
        database.execute("delete from change where revision > 1").await;
        database.execute("delete from task where id <> '1'").await;
        database.execute("update thread set revision = 1, change_id = 7, version = 7, total = 1").await;
        let list = super::next_reset(&mut following).await;
        assert_eq!((list.revision().get(), list.tasks().len()), (1, 1));
        create(&lists, &key, "b").await;
        assert_eq!(next_revision(&mut following).await, 2);
    }
}
