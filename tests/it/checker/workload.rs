//! Clients that call as fast as they are answered, and remember everything.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::call::{Answer, Attempt, Call, Outcome, Request};
use super::client::{Client, Manners, Servers};
use super::dice::Dice;
use super::known::Known;
use super::verify::Thread;
use super::violation::Violation;

/// The most attempts of one call under a key.
const ATTEMPTS_MAX: usize = 6;

/// How the clients of one round behave.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Begins the names of the round's threads and calls, so that no other round has them.
    pub(crate) name: String,
    pub(crate) clients: usize,
    pub(crate) threads: usize,
    pub(crate) lasts: Duration,
    /// Of a hundred writes, how many have a key.
    pub(crate) keyed_percent: usize,
    /// Of a hundred calls, after how many the client hangs up.
    pub(crate) rude_percent: usize,
}

/// How many requests each server is working on, and what was counted over all rounds.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) begun: Instant,
    pub(crate) at_server: Vec<AtomicUsize>,
    now: AtomicUsize,
    pub(crate) max: AtomicUsize,
}

#[derive(Debug, Clone)]
struct Round {
    plan: Plan,
    servers: Servers,
    flight: Arc<Flight>,
    known: Arc<Vec<Mutex<Known>>>,
}

impl Flight {
    pub(crate) fn new(servers: usize) -> Self {
        Self {
            begun: Instant::now(),
            at_server: (0..servers).map(|_| AtomicUsize::new(0)).collect(),
            now: AtomicUsize::new(0),
            max: AtomicUsize::new(0),
        }
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    async fn send(&self, client: &mut Client, server: usize, request: &Request, manners: Manners) -> Attempt {
        self.at_server[server].fetch_add(1, Ordering::Relaxed);
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.max.fetch_max(now, Ordering::Relaxed);
        let start = self.micros();
        let outcome = client.send(server, request, manners).await;
        let end = self.micros();
        self.now.fetch_sub(1, Ordering::Relaxed);
        self.at_server[server].fetch_sub(1, Ordering::Relaxed);
        Attempt { server, start, end, outcome }
    }
}

/// Lets all clients call for the time of the plan, and returns the calls of each thread.
pub(crate) async fn run(servers: &Servers, flight: &Arc<Flight>, plan: &Plan) -> HashMap<String, Vec<Call>> {
    let known = Arc::new((0..plan.threads).map(|_| Mutex::new(Known::default())).collect());
    let round = Round { plan: plan.clone(), servers: servers.clone(), flight: Arc::clone(flight), known };
    let clients: Vec<_> = (0..plan.clients).map(|number| tokio::spawn(round.clone().client(number))).collect();
    let mut calls: HashMap<String, Vec<Call>> =
        (0..plan.threads).map(|thread| (round.thread(thread), Vec::new())).collect();
    for client in clients {
        for call in client.await.expect("a client ends") {
            calls.entry(call.thread.clone()).or_default().push(call);
        }
    }
    calls
}

impl Round {
    fn thread(&self, thread: usize) -> String {
        format!("{}-{thread}", self.plan.name)
    }

    async fn client(self, number: usize) -> Vec<Call> {
        let mut dice = Dice::new(self.plan.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let mut clients = [self.servers.client(), self.servers.client()];
        let mut calls = Vec::new();
        let deadline = Instant::now() + self.plan.lasts;
        while Instant::now() < deadline {
            // Many calls meet in one thread.
            let thread = if dice.has(20) { 0 } else { dice.below(self.plan.threads) };
            let known = &self.known[thread];
            let mut call = dice.call(&self.thread(thread), &known.lock().unwrap_or_else(PoisonError::into_inner));
            call.actor = format!("{}-{number}-{}", self.plan.name, calls.len());
            call.has_key = !call.is_read() && dice.has(self.plan.keyed_percent);
            self.make(&mut call, &mut dice, &mut clients).await;
            for (_, answer) in call.answers() {
                known.lock().unwrap_or_else(PoisonError::into_inner).learn(&call, answer);
            }
            calls.push(call);
        }
        calls
    }

    /// Makes a call: once, or under a key until it is answered, and now and then at two servers at once or once more.
    async fn make(&self, call: &mut Call, dice: &mut Dice, clients: &mut [Client; 2]) {
        let request = call.request();
        let [client, twin] = clients;
        let server = dice.below(self.servers.count());
        let manners = match dice.below(100) {
            roll if roll >= self.plan.rude_percent => Manners::Waits,
            roll if roll % 3 == 0 => Manners::BreaksOff,
            _ => Manners::HangsUp,
        };
        if call.has_key && dice.has(30) {
            let other = dice.below(self.servers.count());
            let (one, other) = tokio::join!(
                self.flight.send(client, server, &request, manners),
                self.flight.send(twin, other, &request, Manners::Waits)
            );
            call.attempts.extend([one, other]);
        } else {
            call.attempts.push(self.flight.send(client, server, &request, manners).await);
        }
        while call.has_key && call.attempts.len() < ATTEMPTS_MAX && (call.answers().next().is_none() || dice.has(20)) {
            sleep(Duration::from_millis(5 * call.attempts.len() as u64)).await;
            let server = dice.below(self.servers.count());
            call.attempts.push(self.flight.send(client, server, &request, Manners::Waits).await);
        }
        if call.attempts.iter().all(|attempt| matches!(attempt.outcome, Outcome::NotDone(_))) {
            sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Reads what a thread came to, however often it takes.
pub(crate) async fn gather(servers: &Servers, name: String, calls: Vec<Call>) -> Result<Thread, Violation> {
    let mut client = servers.client();
    let request = |path: String, body: Option<String>| {
        let method = if body.is_some() { "POST" } else { "GET" };
        Request { method, path: format!("/threads/{name}/{path}"), headers: Vec::new(), body }
    };
    let list = answered(servers, &mut client, &request("tasks".to_owned(), None)).await?;
    let mut changes = Vec::new();
    let mut after = Some(0);
    while let Some(revision) = after {
        let body = format!(r#"{{"after":{revision},"limit":100}}"#);
        let page = answered(servers, &mut client, &request("tools/task_history".to_owned(), Some(body))).await?;
        changes.extend(page.body["changes"].as_array().cloned().unwrap_or_default());
        after = page.body["nextAfter"].as_i64();
    }
    Ok(Thread { name, calls, changes, list })
}

async fn answered(servers: &Servers, client: &mut Client, request: &Request) -> Result<Answer, Violation> {
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut server = 0;
    loop {
        match client.send(server, request, Manners::Waits).await {
            Outcome::Answered(answer) if answer.status == 200 => return Ok(answer),
            outcome @ (Outcome::NotDone(_) | Outcome::Unknown(_)) if Instant::now() < deadline => drop(outcome),
            outcome => return Err(Violation::new(format!("{} cannot be read: {outcome:?}", request.path))),
        }
        server = (server + 1) % servers.count();
        sleep(Duration::from_millis(50)).await;
    }
}
