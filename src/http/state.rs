//! What every handler can reach. It lies below the handlers and knows none of them.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;

use crate::service::Lists;

/// What every handler can reach. Each layer around a handler has one of its own for each request, so that a copy is no more
/// than one count.
#[derive(Debug, Clone)]
pub struct App(Arc<Shared>);

impl App {
    /// Shares it.
    #[must_use]
    pub fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// What there is once.
#[derive(Debug)]
pub struct Shared {
    /// The one door to the lists.
    pub lists: Lists,
    /// Whether the service is about to end.
    pub draining: Draining,
    /// How requests are judged before they reach the lists.
    pub rules: Rules,
    /// The documents about this interface, as they are served.
    pub documents: Documents,
}

/// How requests are judged before they reach the lists.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Whether a call must name its resource.
    pub require_resource: bool,
    /// The most bytes of a body.
    pub body_bytes_max: usize,
}

/// Whether the service is about to end: set once, seen by all.
#[derive(Debug, Clone, Default)]
pub struct Draining(Arc<AtomicBool>);

impl Draining {
    /// Lets everybody know that the service is about to end.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Tells whether the service is about to end.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The documents about this interface, as they are served.
#[derive(Debug, Clone)]
pub struct Documents {
    /// The OpenAPI document as JSON.
    pub openapi_json: Bytes,
    /// The same as YAML.
    pub openapi_yaml: Bytes,
    /// The OpenAPI document for importers of tools.
    pub openapi_tools_json: Bytes,
}
