//! Every setting: its flag, its variable, its default and its meaning. The only place that reads the environment.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::domain::Limits;
use crate::service::{self, Retention};
use crate::store::StoreOptions;
use crate::toolset::export::{Format, Selection};

/// Keeps the task list of every agent thread.
#[derive(Debug, Parser)]
#[command(name = "tasklane", version)]
pub struct Cli {
    /// What to do; serve if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How.
    #[command(flatten)]
    pub settings: Settings,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API (the default)
    Serve,
    /// Print the OpenAPI document
    Openapi {
        /// Print the document for importers of tools instead
        #[arg(long)]
        tools: bool,
    },
    /// Print the tools' schemas
    Tools {
        /// Whose tools
        #[arg(long, default_value = "all", value_name = "TOOLSET", value_parser = selection)]
        toolset: Selection,
        /// In whose format
        #[arg(long, default_value = "mcp", value_name = "FORMAT", value_parser = format)]
        format: Format,
    },
    /// Bring the database's tables up to date and end
    Migrate,
    /// Ask a running service on this machine whether it is ready; end with 0 if it is
    Healthcheck,
}

/// How the program runs. Each setting is a flag and a variable; the flag wins.
#[derive(Debug, Clone, Args)]
pub struct Settings {
    /// Address and port to listen on
    #[arg(long, env = "TASKLANE_LISTEN", default_value = "127.0.0.1:8080", global = true, value_name = "ADDRESS")]
    pub listen: SocketAddr,

    /// Where the lists are kept: `sqlite://PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`
    #[arg(long, env = "DATABASE_URL", default_value = "sqlite://tasklane.db", global = true, value_name = "URL")]
    #[arg(hide_env_values = true)]
    pub database_url: DatabaseUrl,

    /// Listen on more than loopback although nobody is asked who they are: whoever reaches the port can read and change
    /// every list of every resource
    #[arg(long, env = "TASKLANE_INSECURE_NO_AUTH", global = true, value_parser = BoolishValueParser::new())]
    pub insecure_no_auth: bool,

    /// Refuse calls without the header `X-Resource-Id` instead of taking the resource `default`
    #[arg(long, env = "TASKLANE_REQUIRE_RESOURCE", global = true, value_parser = BoolishValueParser::new())]
    pub require_resource: bool,

    /// Where clients reach the service, for the OpenAPI documents; the listening address if not given
    #[arg(long, env = "TASKLANE_PUBLIC_URL", global = true, value_name = "URL")]
    pub public_url: Option<String>,

    /// The names under which MCP clients may reach the service, with or without a port, so that no web page can reach it
    /// under a name of its own; if none is given, on loopback only `localhost` and its addresses, elsewhere all
    #[arg(long, env = "TASKLANE_ALLOWED_HOSTS", global = true, value_delimiter = ',', value_name = "HOST[,HOST…]")]
    pub allowed_hosts: Vec<String>,

    /// The origins of web pages that may be MCP clients, such as `https://app.example:443`, or `http://localhost:*` for
    /// any port; if none is given, those of this machine
    #[arg(
        long,
        env = "TASKLANE_ALLOWED_ORIGINS",
        global = true,
        value_delimiter = ',',
        value_name = "ORIGIN[,ORIGIN…]"
    )]
    pub allowed_origins: Vec<String>,

    /// The most seconds that a request may take
    #[arg(long, env = "TASKLANE_REQUEST_TIMEOUT_SECONDS", default_value_t = 10, global = true, value_name = "SECONDS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=600))]
    pub request_timeout_seconds: u64,

    /// The most requests that are worked on at a time; more are refused with 503
    #[arg(long, env = "TASKLANE_REQUESTS_MAX", default_value_t = 1_024, global = true, value_name = "NUMBER")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub requests_max: u32,

    /// The most bytes of a request's body
    #[arg(long, env = "TASKLANE_BODY_BYTES_MAX", default_value_t = 4 * 1024 * 1024, global = true, value_name = "BYTES")]
    pub body_bytes_max: usize,

    /// Seconds to go on accepting connections after SIGTERM, so that a load balancer sees that `/readyz` has turned 503
    #[arg(long, env = "TASKLANE_SHUTDOWN_DELAY_SECONDS", default_value_t = 0, global = true, value_name = "SECONDS")]
    pub shutdown_delay_seconds: u64,

    /// The most seconds that open requests may go on at shutdown
    #[arg(
        long,
        env = "TASKLANE_SHUTDOWN_TIMEOUT_SECONDS",
        default_value_t = 20,
        global = true,
        value_name = "SECONDS"
    )]
    pub shutdown_timeout_seconds: u64,

    /// The most connections to the database
    #[arg(long, env = "TASKLANE_CONNECTIONS_MAX", default_value_t = 16, global = true, value_name = "NUMBER")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections_max: u32,

    /// Never use LISTEN and NOTIFY, which a pooler in transaction mode cannot do: changes of other replicas are then looked
    /// for every 50 ms while somebody follows
    #[arg(long, env = "TASKLANE_WITHOUT_LISTEN", global = true, value_parser = BoolishValueParser::new())]
    pub without_listen: bool,

    /// The most bytes of lists that are kept in memory; 0 keeps none
    #[arg(long, env = "TASKLANE_CACHE_BYTES_MAX", default_value_t = 16 * 1024 * 1024, global = true, value_name = "BYTES")]
    pub cache_bytes_max: usize,

    /// What is logged, as `tracing` filters are written
    #[arg(long, env = "RUST_LOG", default_value = "info", global = true, value_name = "FILTER")]
    pub log: String,

    /// How it is logged
    #[arg(long, env = "TASKLANE_LOG_FORMAT", default_value = "text", global = true, value_name = "FORMAT")]
    pub log_format: LogFormat,

    /// The bounds of lists.
    #[command(flatten)]
    pub limits: LimitSettings,

    /// How long things are kept.
    #[command(flatten)]
    pub retention: RetentionSettings,
}

/// How long the past is kept.
#[derive(Debug, Clone, Args)]
pub struct RetentionSettings {
    /// Days for which a change is kept in the history; a list's newest is always kept
    #[arg(long, env = "TASKLANE_HISTORY_DAYS", default_value_t = 90, global = true, value_name = "DAYS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub history_days: u32,

    /// About how many of a list's newest changes are kept in the history
    #[arg(long, env = "TASKLANE_HISTORY_CHANGES_MAX", default_value_t = 10_000, global = true, value_name = "NUMBER")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub history_changes_max: u32,

    /// Hours for which the answer to a call with an `Idempotency-Key` is kept
    #[arg(long, env = "TASKLANE_ANSWER_HOURS", default_value_t = 24, global = true, value_name = "HOURS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=8_760))]
    pub answer_hours: u32,
}

/// The bounds of lists that an operator may choose.
#[derive(Debug, Clone, Args)]
pub struct LimitSettings {
    /// The most tasks of one list
    #[arg(long, env = "TASKLANE_TASKS_MAX", default_value_t = 1_000, global = true, value_name = "NUMBER")]
    pub tasks_max: usize,

    /// The most bytes of all texts of one list together
    #[arg(long, env = "TASKLANE_LIST_BYTES_MAX", default_value_t = 4 * 1024 * 1024, global = true, value_name = "BYTES")]
    pub list_bytes_max: usize,

    /// The most bytes of one description
    #[arg(long, env = "TASKLANE_DESCRIPTION_BYTES_MAX", default_value_t = 64 * 1024, global = true, value_name = "BYTES")]
    pub description_bytes_max: usize,

    /// The most bytes of one task's metadata, as compact JSON
    #[arg(long, env = "TASKLANE_METADATA_BYTES_MAX", default_value_t = 64 * 1024, global = true, value_name = "BYTES")]
    pub metadata_bytes_max: usize,

    /// The most levels of objects and arrays in one task's metadata (at most 60: whole bodies are read to 64)
    #[arg(long, env = "TASKLANE_METADATA_LEVELS_MAX", default_value_t = 32, global = true, value_name = "NUMBER")]
    #[arg(value_parser = levels)]
    pub metadata_levels_max: usize,
}

fn selection(name: &str) -> Result<Selection, &'static str> {
    Selection::parse(name).ok_or("it must be all, mastra, agentscope or coordination")
}

fn format(name: &str) -> Result<Format, String> {
    let names = Format::ALL.map(Format::as_str).join(", ");
    Format::parse(name).ok_or_else(|| format!("it must be one of {names}"))
}

fn levels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(levels @ 1..=60) => Ok(levels),
        Ok(_) => Err("it must lie between 1 and 60".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people
    Text,
    /// One JSON object a line
    Json,
}

/// The settings contradict each other.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsFault {
    /// Others than this machine could reach a service that asks nobody who they are.
    #[error(
        "refusing to listen on {0}: there is no authentication yet, so everybody who reaches this address could read and \
         change every list. Listen on loopback (127.0.0.1), or say --insecure-no-auth (TASKLANE_INSECURE_NO_AUTH=true) if \
         only trusted callers can reach it"
    )]
    Exposed(SocketAddr),
}

impl Settings {
    /// Checks what no single setting can know.
    ///
    /// # Errors
    /// [`SettingsFault::Exposed`]
    pub fn check_exposure(&self) -> Result<(), SettingsFault> {
        let is_private = self.listen.ip().to_canonical().is_loopback();
        if is_private || self.insecure_no_auth { Ok(()) } else { Err(SettingsFault::Exposed(self.listen)) }
    }

    /// Returns where clients reach the service, without a slash at the end.
    #[must_use]
    pub fn public_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.local_address()),
        }
    }

    /// Returns an address under which this machine reaches the service.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        let ip = match self.listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        SocketAddr::new(ip, self.listen.port())
    }

    /// Returns the most time that a request may take.
    #[must_use]
    pub fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout_seconds)
    }

    /// Returns what the service is told.
    #[must_use]
    pub fn service(&self) -> service::Settings {
        service::Settings {
            limits: (&self.limits).into(),
            deadline: self.request_timeout(),
            retention: (&self.retention).into(),
            cache_bytes_max: self.cache_bytes_max,
        }
    }

    /// Returns how to connect to the database.
    #[must_use]
    pub fn store_options(&self) -> StoreOptions {
        StoreOptions {
            connections_max: self.connections_max,
            acquire_timeout: self.request_timeout(),
            announces: !self.without_listen,
        }
    }
}

impl From<&LimitSettings> for Limits {
    fn from(settings: &LimitSettings) -> Self {
        Self {
            tasks_max: settings.tasks_max,
            list_bytes_max: settings.list_bytes_max,
            description_bytes_max: settings.description_bytes_max,
            metadata_bytes_max: settings.metadata_bytes_max,
            metadata_levels_max: settings.metadata_levels_max,
        }
    }
}

impl From<&RetentionSettings> for Retention {
    fn from(settings: &RetentionSettings) -> Self {
        const HOUR: Duration = Duration::from_hours(1);
        Self {
            changes_age_max: HOUR * 24 * settings.history_days,
            changes_max: settings.history_changes_max,
            answers_age_max: HOUR * settings.answer_hours,
        }
    }
}

/// Where the database is. It may hold a password, so only its scheme is ever shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Returns the URL, password included.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for DatabaseUrl {
    type Err = std::convert::Infallible;

    fn from_str(url: &str) -> Result<Self, Self::Err> {
        Ok(Self(url.to_owned()))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.split_once(':').map_or("", |(scheme, _)| scheme);
        write!(f, "{scheme}:<redacted>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(flags: &[&str]) -> Settings {
        Cli::parse_from(std::iter::once(&"tasklane").chain(flags)).settings
    }

    #[test]
    fn every_setting_has_a_variable_and_a_meaning() {
        let command = <Cli as clap::CommandFactory>::command();
        command.clone().debug_assert();
        for argument in command.get_arguments().filter(|argument| argument.get_id() != "help") {
            if argument.get_id() == "version" {
                continue;
            }
            assert!(argument.get_env().is_some(), "{} has no variable", argument.get_id());
            assert!(argument.get_help().is_some(), "{} has no meaning", argument.get_id());
        }
    }

    #[test]
    fn only_loopback_is_listened_on_unless_somebody_says_so() {
        for address in ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(settings(&["--listen", address]).check_exposure(), Ok(()), "{address}");
        }
        for address in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1"] {
            let fault = settings(&["--listen", address]).check_exposure().unwrap_err();
            assert!(fault.to_string().contains("--insecure-no-auth"), "{fault}");
            assert_eq!(settings(&["--listen", address, "--insecure-no-auth"]).check_exposure(), Ok(()), "{address}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = "postgres://me:secret@db/tasks";
        let settings = settings(&["--database-url", url]);
        assert_eq!(settings.database_url.expose(), url);
        assert!(!format!("{settings:?}").contains("secret"));
    }

    #[test]
    fn flags_may_stand_before_and_after_the_command() {
        for flags in [["--listen", "127.0.0.1:9", "serve"], ["serve", "--listen", "127.0.0.1:9"]] {
            assert_eq!(settings(&flags).listen.port(), 9);
        }
    }

    #[test]
    fn clients_are_told_an_address_that_they_can_reach() {
        assert_eq!(settings(&["--listen", "0.0.0.0:80"]).public_url(), "http://127.0.0.1:80");
        assert_eq!(settings(&["--listen", "[::]:80"]).public_url(), "http://[::1]:80");
        assert_eq!(settings(&["--public-url", "https://tasks.example/"]).public_url(), "https://tasks.example");
    }
}
