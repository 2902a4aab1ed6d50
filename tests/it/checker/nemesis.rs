//! What goes wrong while the clients call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::cluster::{Cluster, Stop};
use super::dice::Dice;
use super::process::Process;
use super::wire::Wire;
use super::workload::Flight;

/// A process is killed only when it works on at least so many requests.
const IN_FLIGHT_MIN: usize = 8;
/// How long such a moment is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What happens, in turn.
const SERVER_WOES: [Woe; 12] = [
    Woe::Cut,
    Woe::Kill,
    Woe::Terminate,
    Woe::Cut,
    Woe::Restart(Stop::Fast),
    Woe::Kill,
    Woe::Cut,
    Woe::Kill,
    Woe::Terminate,
    Woe::Restart(Stop::Immediate),
    Woe::Cut,
    Woe::Kill,
];
const FILE_WOES: [Woe; 1] = [Woe::Kill];

#[derive(Debug, Clone, Copy)]
enum Woe {
    /// A process is killed, and started again.
    Kill,
    /// The database is restarted.
    Restart(Stop),
    /// Sessions are ended by the database.
    Terminate,
    /// The wire to the database breaks.
    Cut,
}

/// How often what happened.
#[derive(Debug, Default)]
pub(crate) struct Woes {
    pub(crate) kills: usize,
    /// The fewest requests that a process worked on when it was killed.
    pub(crate) in_flight_min: Option<usize>,
    pub(crate) fast_restarts: usize,
    pub(crate) immediate_restarts: usize,
    pub(crate) terminated: usize,
    pub(crate) cuts: usize,
}

#[derive(Debug)]
pub(crate) struct Nemesis {
    pub(crate) processes: Vec<Process>,
    pub(crate) database: Option<(Arc<Cluster>, Wire)>,
    pub(crate) flight: Arc<Flight>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) dice: Dice,
    /// The longest pause between two woes, in milliseconds.
    pub(crate) pause_max: usize,
}

impl Nemesis {
    /// Does its worst until it is told to stop; everything runs again when it returns.
    pub(crate) async fn run(mut self) -> (Self, Woes) {
        let mut woes = Woes::default();
        let all: &[Woe] = if self.database.is_some() { &SERVER_WOES } else { &FILE_WOES };
        for woe in all.iter().cycle() {
            sleep(Duration::from_millis(100 + self.dice.below(self.pause_max) as u64)).await;
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.bring(*woe, &mut woes).await;
        }
        woes.cuts = self.database.as_ref().map_or(0, |(_, wire)| wire.cuts());
        (self, woes)
    }

    async fn bring(&mut self, woe: Woe, woes: &mut Woes) {
        match (woe, &self.database) {
            (Woe::Kill, _) => self.kill(woes).await,
            (Woe::Restart(stop), Some((cluster, _))) => {
                let cluster = Arc::clone(cluster);
                tokio::task::spawn_blocking(move || cluster.restart(stop)).await.expect("the database restarts");
                match stop {
                    Stop::Fast => woes.fast_restarts += 1,
                    Stop::Immediate => woes.immediate_restarts += 1,
                }
            }
            (Woe::Terminate, Some((cluster, _))) => {
                woes.terminated += cluster.terminate(1 + self.dice.below(6)).await.unwrap_or(0);
            }
            (Woe::Cut, Some((_, wire))) => wire.cut(&mut self.dice),
            (Woe::Restart(_) | Woe::Terminate | Woe::Cut, None) => {}
        }
    }

    async fn kill(&mut self, woes: &mut Woes) {
        let victim = self.dice.below(self.processes.len());
        let deadline = Instant::now() + PATIENCE;
        let in_flight = || self.flight.at_server[victim].load(Ordering::Relaxed);
        while in_flight() < IN_FLIGHT_MIN {
            if Instant::now() > deadline || self.stop.load(Ordering::Relaxed) {
                return;
            }
            sleep(Duration::from_micros(200)).await;
        }
        let at_kill = in_flight();
        self.processes[victim].kill();
        woes.kills += 1;
        woes.in_flight_min = Some(woes.in_flight_min.map_or(at_kill, |least| least.min(at_kill)));
        sleep(Duration::from_millis(self.dice.below(300) as u64)).await;
        self.processes[victim].start_again().await;
    }
}
