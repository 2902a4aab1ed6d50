//! New databases, old ones, and statements that fit them.

use tasklane::store::{self, Loaded, OpenError, PostgresStore, SqliteStore};
use tokio::task::JoinSet;

use crate::support::build::{commit, committed, key, task};
use crate::support::database::{Kind, options};

both_databases! {
    async fn several_processes_may_open_a_new_database_at_once(database: TestDatabase) {
        let mut opening = JoinSet::new();
        for n in 0..6 {
            let database = database.clone();
            opening.spawn(async move {
                let store = database.open().await;
                committed(&*store, &commit(&key("r", &format!("t{n}")), &Loaded::default(), vec![task("a")])).await
            });
        }
        for loaded in opening.join_all().await {
            assert_eq!(loaded.list.tasks().len(), 1);
        }
        assert_eq!(database.number("select count(*) from thread").await, 6);
        assert_eq!(database.number("select count(*) from _sqlx_migrations").await, 1);
    }

    async fn what_was_written_is_there_after_a_restart(database: TestDatabase) {
        let store = database.open().await;
        let written = committed(&*store, &commit(&key("r", "t"), &Loaded::default(), vec![task("a")])).await;
        store.close().await;
        assert!(store.load(&key("r", "t"), None).await.is_err());
        let loaded = database.open().await.load(&key("r", "t"), None).await.unwrap();
        assert_eq!((loaded.list, loaded.version), (written.list, written.version));
    }

    async fn every_statement_fits_the_tables(database: TestDatabase) {
        let store = database.open().await;
        store.ping().await.unwrap();
        let statements = match database.kind() {
            Kind::Postgres => PostgresStore::statements(),
            Kind::Sqlite => SqliteStore::statements(),
        };
        for statement in statements {
            if let Err(error) = database.prepare(&statement).await {
                panic!("{statement}\n{error}");
            }
        }
    }
}

#[tokio::test]
async fn a_database_in_memory_lives_as_long_as_its_store() {
    for url in ["sqlite::memory:", "sqlite://:memory:"] {
        let store = store::open(url, &options()).await.unwrap();
        let written = committed(&*store, &commit(&key("r", "t"), &Loaded::default(), vec![task("a")])).await;
        assert_eq!(store.load(&key("r", "t"), None).await.unwrap().list, written.list);
    }
}

#[tokio::test]
async fn a_url_that_names_no_known_database_is_refused() {
    for url in ["mysql://localhost/x", "tasklane.db", ""] {
        assert!(matches!(store::open(url, &options()).await, Err(OpenError::Scheme)), "{url}");
    }
    assert!(matches!(store::open("sqlite:///no/such/folder/x.db", &options()).await, Err(OpenError::Connect(_))));
    assert!(matches!(store::open("postgres://%/x", &options()).await, Err(OpenError::Connect(_))));
}
