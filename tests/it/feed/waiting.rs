//! Waiting until a list has changed.

use std::time::Duration;

use tasklane::domain::{Claim, Metadata, Operation, Owner, Revision, Status};

use super::{caller, change, create, process};
use crate::support::build::{id, key};

/// Longer than any test runs: what returns was woken.
const LONG: Duration = Duration::from_mins(10);

both_databases! {
    async fn a_list_that_has_passed_the_revision_is_returned_at_once(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        create(&lists, &key, "a").await;
        let list = lists.wait(&caller(), &key, Revision::new(0), LONG).await.unwrap();
        assert_eq!(list.revision(), Revision::new(1));
    }

    async fn at_the_timeout_the_list_is_returned_as_it_is(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        create(&lists, &key, "a").await;
        let list = lists.wait(&caller(), &key, Revision::new(1), Duration::ZERO).await.unwrap();
        assert_eq!(list.revision(), Revision::new(1));
    }

    async fn a_thousand_waiters_are_woken_by_a_change_of_another_process(database: TestDatabase) {
        let (lists, other) = (process(&database).await, process(&database).await);
        let key = key("default", "t");
        let waiters: Vec<_> = (0..1_000)
            .map(|_| {
                let (lists, key) = (lists.clone(), key.clone());
                tokio::spawn(async move { lists.wait(&caller(), &key, Revision::new(0), LONG).await.unwrap() })
            })
            .collect();
        create(&other, &key, "a").await;
        for waiter in waiters {
            assert_eq!(waiter.await.unwrap().revision(), Revision::new(1));
        }
    }

    async fn waiters_hold_no_connection(database: TestDatabase) {
        let lists = process(&database).await;
        let waiters: Vec<_> = (0..100)
            .map(|n| {
                let (lists, key) = (lists.clone(), key("default", &n.to_string()));
                tokio::spawn(async move { lists.wait(&caller(), &key, Revision::new(0), LONG).await.unwrap() })
            })
            .collect();
        // There are four connections, and each of these calls needs one.
        for n in 0..100 {
            create(&lists, &key("default", &n.to_string()), "a").await;
        }
        for waiter in waiters {
            assert_eq!(waiter.await.unwrap().revision(), Revision::new(1));
        }
    }

    async fn whoever_waits_learns_that_a_lease_has_ended(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        create(&lists, &key, "a").await;
        let claim = Claim {
            owner: Owner::parse("w").unwrap(),
            id: None,
            lease_seconds: 1,
            metadata: Metadata::default(),
        };
        let claimed = change(&lists, &key, Operation::Claim(claim)).await.list;
        assert_eq!(claimed.revision(), Revision::new(2));
        let list = lists.wait(&caller(), &key, Revision::new(2), LONG).await.unwrap();
        assert_eq!(list.revision(), Revision::new(3));
        assert_eq!(list.get(&id("1")).unwrap().status, Status::Pending);
    }

    async fn waiting_ends_when_the_service_stops(database: TestDatabase) {
        let lists = process(&database).await;
        let key = key("default", "t");
        let waiter = {
            let (lists, key) = (lists.clone(), key.clone());
            tokio::spawn(async move { lists.wait(&caller(), &key, Revision::new(0), LONG).await.unwrap() })
        };
        lists.stop_following();
        assert_eq!(waiter.await.unwrap().revision(), Revision::new(0));
    }
}
