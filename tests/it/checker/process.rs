//! Services as processes of their own, which can be killed and started again at the same address.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::call::{Outcome, Request};
use super::client::{Manners, Servers};
use super::cluster::free_port;

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) address: SocketAddr,
    database_url: String,
    log: PathBuf,
    child: Option<Child>,
}

impl Process {
    /// Starts a service and waits until it is ready.
    pub(crate) async fn start(database_url: &str, folder: &Path, number: usize) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let log = folder.join(format!("service-{number}.log"));
        let mut process = Self { address, database_url: database_url.to_owned(), log, child: None };
        process.start_again().await;
        process
    }

    pub(crate) async fn start_again(&mut self) {
        let log = || File::options().append(true).create(true).open(&self.log).expect("a log");
        let child = Command::new(env!("CARGO_BIN_EXE_tasklane"))
            .args(["--listen", &self.address.to_string(), "--database-url", &self.database_url])
            // Short, so that what hangs is given up before the run ends; the check needs every change.
            .args(["--request-timeout-seconds", "5", "--history-changes-max", "1000000", "--log", "warn"])
            .stdin(Stdio::null())
            .stdout(log())
            .stderr(log())
            .spawn();
        self.child = Some(child.expect("the service starts"));
        let ready = Request { method: "GET", path: "/livez".to_owned(), headers: Vec::new(), body: None };
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let answer = Servers::Addresses(vec![self.address]).client().send(0, &ready, Manners::Waits).await;
            if matches!(&answer, Outcome::Answered(answer) if answer.status == 200) {
                return;
            }
            // While the database is away, a service cannot start: it ends, as its supervisor expects.
            let has_ended = self.child.as_mut().is_none_or(|child| child.try_wait().is_ok_and(|end| end.is_some()));
            assert!(Instant::now() < deadline, "{} is not ready: {}", self.address, self.log());
            if has_ended {
                sleep(Duration::from_millis(100)).await;
                return Box::pin(self.start_again()).await;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().and_then(|()| child.wait()).expect("the service is killed");
        }
    }

    /// The end of what it logged.
    pub(crate) fn log(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
