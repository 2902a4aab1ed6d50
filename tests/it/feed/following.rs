//! One list, followed.

use tasklane::domain::{Operation, Revision};
use tasklane::service::Next;

use super::{change, create, follow, next, next_reset, next_revision, next_snapshot, process};
use crate::support::build::key;

both_databases! {
    async fn a_reader_gets_the_list_and_then_each_change(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        let mut early = follow(&lists, &key, None).await;
        assert_eq!(next_snapshot(&mut early).await.revision(), Revision::new(0));
        create(&lists, &key, "a").await;
        let mut late = follow(&lists, &key, None).await;
        assert_eq!(next_snapshot(&mut late).await.tasks().len(), 1);
        create(&lists, &key, "b").await;
        assert_eq!((next_revision(&mut early).await, next_revision(&mut early).await), (1, 2));
        assert_eq!(next_revision(&mut late).await, 2);
    }

    async fn a_reader_goes_on_from_the_revision_that_it_has_seen(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        for content in ["a", "b", "c"] {
            create(&lists, &key, content).await;
        }
        let mut following = follow(&lists, &key, Some(1)).await;
        assert_eq!((next_revision(&mut following).await, next_revision(&mut following).await), (2, 3));
        create(&lists, &key, "d").await;
        assert_eq!(next_revision(&mut following).await, 4);
        // From what is at hand in this process, and from the newest.
        assert_eq!(next_revision(&mut follow(&lists, &key, Some(3)).await).await, 4);
        let mut newest = follow(&lists, &key, Some(4)).await;
        create(&lists, &key, "e").await;
        assert_eq!(next_revision(&mut newest).await, 5);
    }

    async fn a_position_in_the_future_or_not_kept_any_more_is_a_reset(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        for content in ["a", "b", "c", "d"] {
            create(&lists, &key, content).await;
        }
        let mut following = follow(&lists, &key, Some(5)).await;
        assert_eq!(next_reset(&mut following).await.revision(), Revision::new(4));
        create(&lists, &key, "e").await;
        assert_eq!(next_revision(&mut following).await, 5);
        drop(following);

        database.open().await.forget_changes(&key, Revision::new(3)).await.unwrap();
        let mut following = follow(&lists, &key, Some(2)).await;
        let list = next_reset(&mut following).await;
        assert_eq!((list.revision(), list.tasks().len()), (Revision::new(5), 5));
        create(&lists, &key, "f").await;
        assert_eq!(next_revision(&mut following).await, 6);
        assert_eq!(next_revision(&mut follow(&lists, &key, Some(3)).await).await, 4);
    }

    async fn the_deletion_of_a_thread_reaches_live_and_late_readers_as_a_reset(database: TestDatabase) {
        let (lists, other) = (process(&database).await, process(&database).await);
        let key = key("default", "t");
        create(&lists, &key, "a").await;
        let (mut here, mut there) = (follow(&lists, &key, Some(1)).await, follow(&other, &key, Some(1)).await);
        change(&lists, &key, Operation::DeleteThread).await;
        create(&lists, &key, "b").await;
        let mut late = follow(&other, &key, Some(0)).await;
        for following in [&mut here, &mut there, &mut late] {
            let list = next_reset(following).await;
            assert_eq!((list.revision(), list.tasks().len()), (Revision::new(2), 0));
            assert!(!list.exists());
            assert_eq!(next_revision(following).await, 3);
        }
    }

    async fn a_reader_that_is_too_slow_is_sent_away_and_goes_on_where_it_was(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        create(&lists, &key, "the only task").await;
        let mut following = follow(&lists, &key, Some(1)).await;
        let toggle = |at: i64| {
            if at % 2 == 0 { Operation::Clear } else { super::creation("a task") }
        };
        for at in 0..1_030 {
            change(&lists, &key, toggle(at)).await;
        }
        assert!(matches!(next(&mut following).await, Next::TooSlow));
        let mut again = follow(&lists, &key, Some(1)).await;
        for revision in 2..=1_031 {
            assert_eq!(next_revision(&mut again).await, revision);
        }
    }

    async fn all_readers_end_when_the_service_stops(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        let mut following = follow(&lists, &key, Some(0)).await;
        let waiting = tokio::spawn(async move { next(&mut following).await });
        lists.stop_following();
        assert!(matches!(waiting.await.unwrap(), Next::Stopping));
        // Whoever comes later is told what there is, and sent away.
        let mut following = follow(&lists, &key, None).await;
        next_snapshot(&mut following).await;
        assert!(matches!(next(&mut following).await, Next::Stopping));
        create(&lists, &key, "still done").await;
    }

    async fn a_wait_that_is_given_up_loses_nothing(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        let mut following = follow(&lists, &key, Some(0)).await;
        for revision in 1..=50 {
            let writing = tokio::spawn({
                let (lists, key) = (lists.clone(), key.clone());
                async move { create(&lists, &key, "a").await }
            });
            // Gives up as often as it can before the change comes.
            let told = loop {
                let given_up = std::time::Duration::ZERO;
                if let Ok(told) = tokio::time::timeout(given_up, next_revision(&mut following)).await {
                    break told;
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(told, revision);
            writing.await.unwrap();
        }
    }
}
