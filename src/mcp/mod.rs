//! The Model Context Protocol edge: both eras of the protocol on one URL, without any session.
//!
//! A request passes three stations. `gate` decides whose and which thread's it is and makes of what clients really send
//! what the protocol library understands; `server` answers, from the registry of tools and by the same `tool_call` as
//! every edge; `answer` puts in what the library's own JSON values cannot carry. Arguments and structured results pass
//! by the library as text, so that nothing about them is altered.

mod answer;
mod arguments;
mod call;
mod gate;
mod incoming;
mod listen;
mod message;
mod resource;
mod server;
mod surface;
mod unanswered;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::service::Lists;
use crate::toolset::Toolset;
use crate::toolset::export::Selection;
use server::Server;
use surface::Surface;

/// How requests are judged before they reach a tool.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether a call must name its resource.
    pub require_resource: bool,
    /// The most bytes of a body.
    pub body_bytes_max: usize,
    /// The names under which clients may reach the service, with or without a port; all if there is none.
    pub allowed_hosts: Vec<String>,
    /// The origins of web pages that may call, such as `https://app.example:443` or `http://localhost:*`.
    pub allowed_origins: Vec<String>,
}

type Service = StreamableHttpService<Server, NeverSessionManager>;

/// What every request can reach.
#[derive(Clone)]
struct Edge(Arc<Parts>);

struct Parts {
    settings: Settings,
    doors: Vec<Door>,
}

/// One set of tools, as it is offered.
struct Door {
    selection: Selection,
    names_thread: bool,
    service: Service,
}

/// Returns the routes.
pub fn routes<S: Clone + Send + Sync + 'static>(lists: &Lists, settings: Settings) -> Router<S> {
    let selections = Toolset::ALL.map(Selection::One).into_iter().chain([Selection::All]);
    let doors = selections
        .flat_map(|selection| [false, true].map(|names_thread| Door::new(selection, names_thread, lists, &settings)))
        .collect();
    Router::new()
        .route("/threads/{thread_id}/mcp", post(gate::in_thread))
        .route("/mcp", post(gate::anywhere))
        .with_state(Edge(Arc::new(Parts { settings, doors })))
}

impl Edge {
    fn door(&self, selection: Selection, names_thread: bool) -> Option<&Service> {
        let mut doors = self.0.doors.iter();
        let door = doors.find(|door| door.selection == selection && door.names_thread == names_thread)?;
        Some(&door.service)
    }
}

impl Door {
    fn new(selection: Selection, names_thread: bool, lists: &Lists, settings: &Settings) -> Self {
        let server = Server::new(Surface::new(selection, names_thread), lists.clone());
        // The library's own token would cut off running calls, so it is never cancelled: streams end with the feed.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(settings.body_bytes_max)
            .with_allowed_hosts(settings.allowed_hosts.iter().cloned())
            .with_allowed_origins(settings.allowed_origins.iter().cloned())
            .enforce_origin_validation();
        let sessions = Arc::new(NeverSessionManager::default());
        Self { selection, names_thread, service: Service::new(move || Ok(server.clone()), sessions, config) }
    }
}
