//! What a request says beside path and body: who calls, on which condition, how the answer should look, and under which
//! key it may be repeated.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;

use super::code::Code;
use super::extract::joined;
use super::problem::Problem;
use super::state::App;
use crate::domain::{Json, TaskList, ThreadId, ThreadKey};
use crate::edge::{self, IDEMPOTENCY_KEY, Patience, parse_key, repeat};
use crate::service::{Caller, Precondition, Target};
use crate::tool_call::Repeat;

const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The longest that a read waits: shorter than what clients and proxies wait for an answer.
const WAIT_SECONDS_MAX: u64 = 25;
const X_LEASE_TOKEN: HeaderName = HeaderName::from_static("x-lease-token");

/// What a request says beside path and body.
#[derive(Debug)]
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// Whether the answer should be as small as it can be.
    pub prefers_minimal: bool,
    /// The lease token that is shown.
    pub token: Option<Arc<str>>,
    /// How long to wait for something new where there is nothing.
    pub wait: Option<Duration>,
    /// Lets the call wait.
    pub patience: Patience,
    key: Option<String>,
    if_match: Option<String>,
    if_none_match: Option<String>,
}

impl FromRequestParts<App> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        Self::of(caller, parts)
    }
}

impl Call {
    /// Reads what the headers say beside who calls.
    ///
    /// # Errors
    /// A header is not printable.
    pub fn of(caller: Caller, parts: &Parts) -> Result<Self, Problem> {
        let prefer = joined(&parts.headers, &PREFER)?.unwrap_or_default();
        Ok(Self {
            caller,
            prefers_minimal: prefers(&prefer, "return", "minimal"),
            wait: wait(&prefer),
            patience: parts.extensions.get::<Patience>().cloned().unwrap_or_default(),
            token: joined(&parts.headers, &X_LEASE_TOKEN)?.map(Arc::from),
            key: joined(&parts.headers, &IDEMPOTENCY_KEY)?.map(|key| parse_key(&key)).transpose().map_err(|fault| {
                Problem::at(Code::InvalidHeader, format!("/header/{IDEMPOTENCY_KEY}"), fault.to_string())
            })?,
            if_match: joined(&parts.headers, &IF_MATCH)?,
            if_none_match: joined(&parts.headers, &IF_NONE_MATCH)?,
        })
    }

    /// Returns the key of one of the caller's threads.
    #[must_use]
    pub fn thread(&self, thread: &ThreadId) -> ThreadKey {
        self.caller.thread(thread.clone())
    }

    /// Shows a token of the body, which goes before that of the header.
    #[must_use]
    pub fn with_token(self, token: Option<Arc<str>>) -> Self {
        Self { token: token.or(self.token), ..self }
    }

    /// Forgets `If-None-Match`, which asks a read for no answer at all, and a tool's result is one.
    #[must_use]
    pub fn without_none_match(self) -> Self {
        Self { if_none_match: None, ..self }
    }

    /// Tells whether the call is to create something and nothing else: `If-None-Match: *`.
    #[must_use]
    pub fn only_creates(&self) -> bool {
        self.if_none_match.as_deref().is_some_and(|value| value.trim() == "*")
    }

    /// Returns how to know this call again, if it has a key.
    #[must_use]
    pub fn repeat(&self, operation: &str, target: &Target, body: Option<&Json>) -> Option<Repeat> {
        let target = match target {
            Target::List => "",
            Target::Task(id) => id.as_str(),
        };
        let key = self.key.as_deref()?;
        Some(repeat(key, &self.caller.actor, operation.to_owned(), target, body))
    }

    /// Returns what a write requires of the state of its target.
    ///
    /// # Errors
    /// `If-None-Match` says something that only a read can obey.
    pub fn precondition(&self, target: &Target) -> Result<Option<Precondition>, Problem> {
        edge::precondition(self.if_match.as_deref(), self.if_none_match.as_deref(), target)
            .map_err(|fault| Problem::at(Code::InvalidHeader, "/header/If-None-Match", fault.to_string()))
    }

    /// Judges a read: whether the caller may see this state, and whether it has it already.
    ///
    /// # Errors
    /// The state is not the one that `If-Match` requires.
    pub fn has_seen(&self, list: &TaskList, target: &Target) -> Result<bool, Problem> {
        let holds = |value: &str| edge::is_among(value, list, target);
        if self.if_match.as_deref().is_some_and(|value| !holds(value)) {
            return Err(Problem::precondition_failed(list.clone(), target));
        }
        Ok(self.if_none_match.as_deref().is_some_and(holds))
    }
}

/// Tells whether a preference is stated.
fn prefers(prefer: &str, name: &str, value: &str) -> bool {
    preferred(prefer, name).any(|given| given.eq_ignore_ascii_case(value))
}

/// Returns how long the caller prefers to wait, as far as it may.
fn wait(prefer: &str) -> Option<Duration> {
    let seconds = preferred(prefer, "wait").next()?.parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds.min(WAIT_SECONDS_MAX)))
}

/// Returns what is given for a preference (RFC 7240); what is not understood is passed over.
fn preferred<'a>(prefer: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    prefer.split(',').filter_map(move |preference| {
        let preference = preference.split(';').next().unwrap_or_default();
        let (key, given) = preference.split_once('=').unwrap_or((preference, ""));
        key.trim().eq_ignore_ascii_case(name).then(|| given.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_and_bounded() {
        let seconds = |prefer| wait(prefer).map(|wait| wait.as_secs());
        assert_eq!(seconds("return=minimal, wait=7"), Some(7));
        assert_eq!(seconds("Wait = \"90\""), Some(25));
        assert_eq!(seconds("wait=0"), Some(0));
        for prefer in ["", "wait", "wait=-1", "wait=soon", "wait=1.5"] {
            assert_eq!(seconds(prefer), None, "{prefer}");
        }
    }

    #[test]
    fn a_preference_is_found_among_others() {
        for prefer in ["return=minimal", "wait=5, Return = \"minimal\"; foo", "respond-async,return=minimal"] {
            assert!(prefers(prefer, "return", "minimal"), "{prefer}");
        }
        for prefer in ["", "return", "return=representation", "minimal", "xreturn=minimal"] {
            assert!(!prefers(prefer, "return", "minimal"), "{prefer}");
        }
    }
}
