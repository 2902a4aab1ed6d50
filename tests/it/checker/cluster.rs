//! A `PostgreSQL` server of the check's own, since it is to be stopped and killed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    pub(crate) port: u16,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Running statements are broken off and undone.
    Fast,
    /// Everything is left as it lies, to be recovered at the next start.
    Immediate,
}

impl Cluster {
    /// Makes a server and starts it, durable as a server is by default.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cluster = Self { folder, programs: programs(), port: free_port() };
        if is_root() {
            let owner = Command::new("chown").arg("postgres").arg(cluster.folder.path()).status();
            assert!(owner.is_ok_and(|status| status.success()), "the folder goes to postgres");
        }
        let data = format!("--pgdata={}", cluster.data().display());
        let options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
        assert!(cluster.run("initdb", options.iter().copied().chain([data.as_str()])), "{}", cluster.log());
        assert!(cluster.control("start", &[]), "{}", cluster.log());
        cluster
    }

    /// The URL of the server as it is reached at a port.
    pub(crate) fn url(port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/postgres")
    }

    pub(crate) fn restart(&self, stop: Stop) {
        let mode = match stop {
            Stop::Fast => "--mode=fast",
            Stop::Immediate => "--mode=immediate",
        };
        assert!(self.control("restart", &[mode]), "{}", self.log());
    }

    /// Ends some of the sessions of the services.
    pub(crate) async fn terminate(&self, sessions: usize) -> Result<usize, sqlx::Error> {
        let mut connection = PgConnection::connect(&Self::url(self.port)).await?;
        let query = sqlx::query(
            "select pg_terminate_backend(pid)
            from pg_stat_activity
            where application_name = 'tasklane'
            order by state = 'active' desc, random()
            limit $1",
        );
        let rows = connection.fetch_all(query.bind(i64::try_from(sessions).unwrap_or(1))).await?;
        Ok(rows.len())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn control(&self, action: &str, more: &[&str]) -> bool {
        let folder = self.folder.path().display();
        let settings =
            format!("-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={folder}", self.port);
        let data = format!("--pgdata={}", self.data().display());
        let options = format!("--options={settings}");
        let log = format!("--log={folder}/log");
        let start = ["--wait", "--timeout=60", "--silent", &options, &log];
        let stop = ["--wait", "--timeout=60", "--silent"];
        let usual: &[&str] = if action == "stop" { &stop } else { &start };
        self.run("pg_ctl", [action, &data].into_iter().chain(usual.iter().copied()).chain(more.iter().copied()))
    }

    /// Runs a program of the server, which refuses to be run as root.
    fn run<'a>(&self, program: &str, arguments: impl Iterator<Item = &'a str>) -> bool {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // A server that starts keeps what it is given, so it is given nothing to hold on to.
        command.args(arguments).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.control("stop", &["--mode=immediate"]);
    }
}

fn programs() -> PathBuf {
    let asked = Command::new("pg_config").arg("--bindir").output();
    let named = asked.ok().and_then(|output| String::from_utf8(output.stdout).ok()).map(|text| text.trim().to_owned());
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).collect();
    installed.sort();
    let mut candidates = named.map(PathBuf::from).into_iter().chain(installed.into_iter().rev());
    candidates.find(|folder| folder.join("initdb").exists()).expect("PostgreSQL's server programs are installed")
}

fn is_root() -> bool {
    Path::new("/proc/self").metadata().is_ok_and(|metadata| metadata.uid() == 0)
}

/// A port that nothing listens on, for a program that cannot be handed a socket.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
