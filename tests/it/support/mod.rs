//! What tests share: databases of their own, services and clients, and short ways to say what a list holds.

pub(crate) mod app;
pub(crate) mod build;
pub(crate) mod clock;
pub(crate) mod conformance;
pub(crate) mod database;
#[macro_use]
pub(crate) mod forward;
pub(crate) mod http;
pub(crate) mod mcp;
pub(crate) mod process;
pub(crate) mod proxy;
pub(crate) mod wait;

/// Makes two tests of each body, `postgres::name` and `sqlite::name`, each with a new database of its own.
macro_rules! both_databases {
    ($(
        $(#[$attribute:meta])*
        async fn $name:ident($database:ident: TestDatabase) $body:block
    )+) => {
        $(
            $(#[$attribute])*
            async fn $name($database: crate::support::database::TestDatabase) $body
        )+

        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    crate::support::database::on_postgres(super::$name).await;
                }
            )+
        }

        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    crate::support::database::on_sqlite(super::$name).await;
                }
            )+
        }
    };
}
