//! The real program in a process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};

use tokio::sync::oneshot;

use super::app::App;
use super::database::TestDatabase;
use super::wait::until;

/// Says when the program listens, and what goes wrong.
const LOG: &str = "warn,tasklane=info,tasklane::telemetry=off";

/// Returns the program, to be told what to do.
fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tasklane"));
    // Settings for some other service must not reach it.
    program.env_clear();
    program
}

/// A running service, which ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts the program on a free port and waits until it listens.
    pub(crate) async fn start(database: &TestDatabase) -> Self {
        Self::with(database, &[]).await
    }

    /// Starts as many at the same time as the result holds.
    pub(crate) async fn start_several<const COUNT: usize>(database: &TestDatabase) -> [Self; COUNT] {
        let starting: [_; COUNT] = std::array::from_fn(|_| {
            let database = database.clone();
            tokio::spawn(async move { Self::start(&database).await })
        });
        let mut servers = Vec::with_capacity(COUNT);
        for server in starting {
            servers.push(server.await.expect("the program starts"));
        }
        servers.try_into().expect("as many as were started")
    }

    /// Starts the program with more flags.
    pub(crate) async fn with(database: &TestDatabase, flags: &[&str]) -> Self {
        let mut child = program()
            .args(["--listen", "127.0.0.1:0", "--database-url", database.url(), "--log", LOG])
            .args(flags)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let log = BufReader::new(child.stderr.take().expect("its log"));
        let (found, address) = oneshot::channel();
        // A thread, and to the log's end: the program would stop where nobody reads what it writes.
        std::thread::spawn(move || {
            let mut found = Some(found);
            for line in log.lines().map_while(Result::ok) {
                eprintln!("{line}");
                if let Some(address) =
                    line.split("listening on ").nth(1).and_then(|address| address.trim().parse().ok())
                    && let Some(found) = found.take()
                {
                    let _ = found.send(address);
                }
            }
        });
        let address = address.await;
        let mut server = Self { child, address: ([127, 0, 0, 1], 0).into() };
        server.address = address.unwrap_or_else(|_| panic!("the program ended: {:?}", server.child.try_wait()));
        server
    }

    /// Returns where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a client with connections of its own.
    pub(crate) fn app(&self) -> App {
        App::at(self.address)
    }

    /// Returns how long it has computed, in hundredths of a second: unlike the time of day, that is not disturbed by
    /// whatever else runs.
    pub(crate) fn computed(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("a system with /proc");
        // After the program's name, which may hold anything, the twelfth and thirteenth are its times.
        let (_, after_name) = stat.rsplit_once(')').expect("a name");
        after_name.split_whitespace().skip(11).take(2).map(|time| time.parse::<u64>().expect("a number")).sum()
    }

    /// Ends it without any warning, as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }

    /// Asks it to end, as whoever runs containers does.
    pub(crate) fn terminate(&self) {
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        until("the program ends", || std::future::ready(self.child.try_wait().expect("its state"))).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
