//! The program: reads the settings, starts the logs, and does what it is told.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use tasklane::clock::SystemClock;
use tasklane::config::{Cli, Command, Settings};
use tasklane::http::state::Draining;
use tasklane::http::{openapi, openapi_tools};
use tasklane::service::Lists;
use tasklane::toolset::export;
use tasklane::{healthcheck, server, store, telemetry};
use tokio::net::TcpListener;

/// Every call takes and gives back many small pieces of memory, and each batch some large ones, on all threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tasklane: {}", with_causes(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Box<dyn Error>> {
    let settings = cli.settings;
    let document = || server::document(&settings.public_url());
    match cli.command.unwrap_or(Command::Serve) {
        Command::Serve => return serve(&settings),
        Command::Migrate => return migrate(&settings),
        Command::Healthcheck => println!("{}", healthcheck::run(settings.local_address())?),
        Command::Openapi { tools: false } => print!("{}", openapi::yaml(&document())),
        Command::Openapi { tools: true } => println!("{}", openapi_tools::json(&document())),
        Command::Tools { toolset, format } => println!("{:#}", export::document(toolset, format)),
    }
    Ok(())
}

#[tokio::main]
async fn serve(settings: &Settings) -> Result<(), Box<dyn Error>> {
    settings.check_exposure()?;
    telemetry::start(&settings.log, settings.log_format)?;
    let stop = server::stop_signal()?;
    let store = store::open(settings.database_url.expose(), &settings.store_options()).await?;
    let lists = Lists::new(store, Arc::new(SystemClock), settings.service());
    let draining = Draining::default();
    let app = server::app(settings, lists.clone(), draining.clone());
    let listener = TcpListener::bind(settings.listen).await?;
    tracing::info!("listening on {}", listener.local_addr()?);
    let housekeeping = tokio::spawn({
        let lists = lists.clone();
        async move { lists.forget_regularly().await }
    });
    server::serve(listener, app, lists.clone(), draining, settings.into(), stop).await?;
    housekeeping.abort();
    lists.close().await;
    tracing::info!("stopped");
    Ok(())
}

#[tokio::main]
async fn migrate(settings: &Settings) -> Result<(), Box<dyn Error>> {
    telemetry::start(&settings.log, settings.log_format)?;
    let store = store::open(settings.database_url.expose(), &settings.store_options()).await?;
    store.close().await;
    Ok(())
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
