//! Several real processes on one database, while everything around them breaks.
//!
//! `CHECKER_SECONDS` says how long, `CHECKER_SEED` from which seed; `scripts/check-consistency` sets them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::call::{Call, Outcome};
use super::client::Servers;
use super::cluster::Cluster;
use super::dice::Dice;
use super::nemesis::{Nemesis, Woes};
use super::process::Process;
use super::verify::verify;
use super::violation::Violation;
use super::wire::Wire;
use super::workload::{Flight, Plan, gather, run};

const PROCESSES: usize = 3;
/// After this time the clients go on to new threads, and those that they leave are judged.
const ROUND: Duration = Duration::from_secs(5);

/// What came of all calls.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: usize,
    changes: usize,
    refused: usize,
    failed_conditions: usize,
    replayed: usize,
    unknown: usize,
    not_done: usize,
    threads: usize,
}

impl Tally {
    fn count(&mut self, calls: &[Call], changes: usize) {
        self.threads += 1;
        self.changes += changes;
        for call in calls {
            let answer = call.answers().next().map(|(_, answer)| answer);
            match answer {
                Some(answer) => {
                    self.acknowledged += 1;
                    self.refused += usize::from(answer.is_refusal());
                    self.failed_conditions += usize::from(answer.status == 412);
                }
                None if call.attempts.iter().any(|attempt| matches!(attempt.outcome, Outcome::Unknown(_))) => {
                    self.unknown += 1;
                }
                None => self.not_done += 1,
            }
            self.replayed += call.answers().filter(|(_, answer)| answer.is_replayed).count();
        }
    }
}

/// Lets clients call and judges what they were answered, until the time is up.
async fn check(nemesis: Nemesis, seed: u64, lasts: Duration) -> (Nemesis, Woes, Tally) {
    let servers = Servers::Addresses(nemesis.processes.iter().map(|process| process.address).collect());
    let (flight, stop) = (Arc::clone(&nemesis.flight), Arc::clone(&nemesis.stop));
    let bad = tokio::spawn(nemesis.run());
    let deadline = Instant::now() + lasts;
    let (mut tally, mut judged) = (Tally::default(), JoinSet::new());
    for round in 0_u64.. {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || bad.is_finished() {
            break;
        }
        let plan = Plan {
            seed: seed.wrapping_add(round),
            name: format!("round-{round}"),
            clients: 64,
            threads: 16,
            lasts: left.min(ROUND),
            keyed_percent: 30,
            rude_percent: 3,
        };
        judged.spawn(judge(servers.clone(), run(&servers, &flight, &plan).await));
        while let Some(done) = judged.try_join_next() {
            add(&mut tally, done.expect("a judgement"), seed);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let (nemesis, woes) = bad.await.expect("the nemesis ends");
    while let Some(done) = judged.join_next().await {
        add(&mut tally, done.expect("a judgement"), seed);
    }
    println!("seed {seed}, at most {} in flight\n{tally:?}\n{woes:?}", flight.max.load(Ordering::Relaxed));
    (nemesis, woes, tally)
}

/// Judges the threads of one round, beside the next.
async fn judge(servers: Servers, round: HashMap<String, Vec<Call>>) -> Result<Tally, Violation> {
    let mut tally = Tally::default();
    for (name, calls) in round {
        let thread = gather(&servers, name, calls).await?;
        let (verdict, thread) =
            tokio::task::spawn_blocking(move || (verify(&thread), thread)).await.expect("a verdict");
        verdict?;
        tally.count(&thread.calls, thread.changes.len());
    }
    Ok(tally)
}

fn add(tally: &mut Tally, judged: Result<Tally, Violation>, seed: u64) {
    match judged {
        Ok(round) => {
            tally.acknowledged += round.acknowledged;
            tally.changes += round.changes;
            tally.refused += round.refused;
            tally.failed_conditions += round.failed_conditions;
            tally.replayed += round.replayed;
            tally.unknown += round.unknown;
            tally.not_done += round.not_done;
            tally.threads += round.threads;
        }
        Err(violation) => panic!("seed {seed}: {violation}"),
    }
}

async fn processes(database_url: &str, folder: &TempDir) -> Vec<Process> {
    let mut processes = Vec::new();
    for number in 0..PROCESSES {
        processes.push(Process::start(database_url, folder.path(), number).await);
    }
    processes
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

async fn nemesis(
    database_url: &str,
    folder: &TempDir,
    database: Option<(Arc<Cluster>, Wire)>,
    (seed, seconds): (u64, u64),
) -> Nemesis {
    Nemesis {
        processes: processes(database_url, folder).await,
        database,
        flight: Arc::new(Flight::new(PROCESSES)),
        stop: Arc::new(AtomicBool::new(false)),
        dice: Dice::new(seed),
        // A long run is to get through many calls; a short one has to meet everything.
        pause_max: if seconds > 60 { 8_000 } else { 700 },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_order_explains_every_answer_of_processes_on_postgres() {
    let (seed, seconds) = (setting("CHECKER_SEED", rand::random()), setting("CHECKER_SECONDS", 40));
    println!("seed {seed}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cluster = Arc::new(tokio::task::spawn_blocking(Cluster::start).await.expect("a database"));
    let wire = Wire::to(SocketAddr::from(([127, 0, 0, 1], cluster.port))).await;
    let url = Cluster::url(wire.port);
    let nemesis = nemesis(&url, &folder, Some((cluster, wire)), (seed, seconds)).await;
    let (_, woes, tally) = check(nemesis, seed, Duration::from_secs(seconds)).await;
    assert!(woes.kills > 0 && woes.fast_restarts > 0 && woes.immediate_restarts > 0 && woes.cuts > 0, "{woes:?}");
    assert!(woes.in_flight_min.is_some_and(|least| least >= 8) && tally.acknowledged > 500, "{tally:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_order_explains_every_answer_of_processes_on_one_sqlite_file() {
    let (seed, seconds) = (setting("CHECKER_SEED", rand::random()), setting("CHECKER_SECONDS", 20));
    println!("seed {seed}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("sqlite://{}", folder.path().join("tasklane.db").display());
    let nemesis = nemesis(&url, &folder, None, (seed, seconds)).await;
    let (_, woes, tally) = check(nemesis, seed, Duration::from_secs(seconds)).await;
    assert!(woes.kills > 0 && woes.in_flight_min.is_some_and(|least| least >= 8), "{woes:?}");
    assert!(tally.acknowledged > 100, "{tally:?}");
}
