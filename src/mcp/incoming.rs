//! What the gate found out about a request, for the server; and the way back for a result.

use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;
use serde_json::value::RawValue;

use crate::domain::ThreadId;
use crate::edge::{CallerFault, Patience};
use crate::service::Caller;

/// What the gate found out. It travels beside the message, in the request's extensions.
#[derive(Debug, Clone)]
pub(super) struct Incoming(Arc<Found>);

/// What the headers of a request say about the call in it.
#[derive(Debug, Clone, Default)]
pub(super) struct CallHeaders {
    /// Under what the answer is kept for repeated calls.
    pub(super) repeat_key: Option<String>,
    /// The lease token that is shown.
    pub(super) token: Option<Arc<str>>,
    /// The states of the list on one of which the call is to be done.
    pub(super) if_match: Option<String>,
    /// The states on none of which it is.
    pub(super) if_none_match: Option<String>,
}

#[derive(Debug)]
struct Found {
    caller: Result<Caller, CallerFault>,
    thread: Option<ThreadId>,
    headers: CallHeaders,
    patience: Patience,
    arguments: Option<Box<RawValue>>,
    structured: OnceLock<Box<RawValue>>,
}

impl Incoming {
    pub(super) fn new(
        caller: Result<Caller, CallerFault>,
        thread: Option<ThreadId>,
        headers: CallHeaders,
        patience: Patience,
        arguments: Option<Box<RawValue>>,
    ) -> Self {
        Self(Arc::new(Found { caller, thread, headers, patience, arguments, structured: OnceLock::new() }))
    }

    /// Returns what the gate found out about the request that is being answered.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Result<&Self, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        parts
            .and_then(|parts| parts.extensions.get::<Self>())
            .ok_or_else(|| ErrorData::internal_error("the request did not come through the gate", None))
    }

    /// Returns who calls.
    pub(super) fn caller(&self) -> Result<&Caller, &CallerFault> {
        self.0.caller.as_ref()
    }

    /// Returns the thread that the URL or a header names.
    pub(super) fn thread(&self) -> Option<&ThreadId> {
        self.0.thread.as_ref()
    }

    /// Returns what the headers say about the call.
    pub(super) fn headers(&self) -> &CallHeaders {
        &self.0.headers
    }

    /// Returns what lets the request take longer.
    pub(super) fn patience(&self) -> &Patience {
        &self.0.patience
    }

    /// Returns the arguments of the tool call as they were spelled.
    pub(super) fn arguments(&self) -> Option<&RawValue> {
        self.0.arguments.as_deref()
    }

    /// Keeps the structured result for the way back.
    pub(super) fn keep_structured(&self, body: Box<RawValue>) {
        // There is one call in a request, so there is one result.
        let _ = self.0.structured.set(body);
    }

    /// Returns the structured result, if there is one.
    pub(super) fn structured(&self) -> Option<&RawValue> {
        self.0.structured.get().map(AsRef::as_ref)
    }
}
