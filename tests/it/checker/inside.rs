//! The same workload and the same judge inside this process: over an honest store nothing is found, over each sabotaged
//! one something is, within seconds.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use tasklane::clock::SystemClock;
use tasklane::config::Cli;
use tasklane::http::state::Draining;
use tasklane::server;
use tasklane::service::Lists;

use super::client::Servers;
use super::sabotage::{Sabotage, Sabotaged};
use super::verify::verify;
use super::violation::Violation;
use super::workload::{Flight, Plan, gather, run};
use crate::support::database::TestDatabase;

/// Services that share a database, as processes do.
const SERVICES: usize = 3;
/// Always from the same on, so that what the honest store passes is what the others fail.
const SEED: u64 = 1;
const HONEST_ROUNDS: u64 = 3;
/// Far more than it takes: one or two are enough unless the machine is busy.
const SABOTAGED_ROUNDS: u64 = 20;

async fn services(database: &TestDatabase, how: Sabotage) -> Servers {
    let settings = Cli::parse_from(["tasklane"]).settings;
    let mut routers = Vec::new();
    for seed in 0..SERVICES {
        let store = Arc::new(Sabotaged::new(database.open().await, how, seed as u64));
        let lists = Lists::new(store, Arc::new(SystemClock), settings.service());
        routers.push(server::app(&settings, lists, Draining::default()));
    }
    Servers::Routers(routers)
}

/// Runs the workload and returns how many answers were explained, or what could not be.
async fn judge(database: &TestDatabase, how: Sabotage, rounds: u64) -> Result<usize, Violation> {
    let servers = services(database, how).await;
    let flight = Arc::new(Flight::new(servers.count()));
    let mut explained = 0;
    for seed in SEED..=rounds {
        let plan = Plan {
            seed,
            name: format!("seed-{seed}"),
            clients: 24,
            threads: 4,
            lasts: Duration::from_secs(1),
            keyed_percent: 40,
            rude_percent: 0,
        };
        for (name, calls) in run(&servers, &flight, &plan).await {
            let thread = gather(&servers, name, calls).await?;
            verify(&thread)?;
            explained += thread.calls.iter().flat_map(super::call::Call::answers).count();
        }
    }
    Ok(explained)
}

async fn is_found(database: &TestDatabase, how: Sabotage) {
    match judge(database, how, SABOTAGED_ROUNDS).await {
        Ok(explained) => panic!("{how:?} went unnoticed in {explained} answers"),
        Err(violation) => println!("{how:?} was found:\n{violation}"),
    }
}

both_databases! {
    async fn nothing_is_found_over_an_honest_store_even_on_a_bad_line(database: TestDatabase) {
        match judge(&database, Sabotage::None, HONEST_ROUNDS).await {
            Ok(explained) => assert!(explained > 100, "only {explained} answers"),
            Err(violation) => panic!("{violation}"),
        }
    }

    async fn a_commit_under_a_freshly_read_version_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::FreshVersion).await;
    }

    async fn an_answer_kept_after_its_change_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::KeyApart).await;
    }

    async fn an_answer_kept_before_its_change_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::KeyAhead).await;
    }

    async fn a_blind_retry_after_an_unknown_outcome_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::BlindRetry).await;
    }

    async fn a_torn_load_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::TornLoad).await;
    }

    async fn a_stale_cache_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::StaleCache).await;
    }

    async fn a_check_that_is_not_asked_anew_is_found(database: TestDatabase) {
        is_found(&database, Sabotage::StaleCheck).await;
    }
}
