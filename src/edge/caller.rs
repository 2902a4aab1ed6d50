//! Who calls: the one home of authentication, for every edge.

use axum::http::{HeaderMap, HeaderName};
use percent_encoding::percent_decode;

use crate::domain::{Actor, ResourceId, TextFault};
use crate::service::{Caller, Scopes};

const X_RESOURCE_ID: HeaderName = HeaderName::from_static("x-resource-id");
const X_ACTOR: HeaderName = HeaderName::from_static("x-actor");

/// Why nobody can be said to call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallerFault {
    /// The service takes no call that does not name its resource.
    #[error("This service takes no call without the header X-Resource-Id.")]
    ResourceRequired,
    /// A header cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderFault),
}

/// A header that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The header {name} {message}.")]
pub struct HeaderFault {
    /// Which.
    pub name: HeaderName,
    /// What is wrong with it, to be read after the name.
    pub message: String,
}

/// Reads who calls from a request's headers, and believes them: there is no authentication yet.
///
/// # Errors
/// A header cannot be read, or none names the resource although one must.
pub fn read_caller(headers: &HeaderMap, require_resource: bool) -> Result<Caller, CallerFault> {
    let resource = match decoded(headers, &X_RESOURCE_ID, ResourceId::parse)? {
        Some(resource) => resource,
        None if require_resource => return Err(CallerFault::ResourceRequired),
        None => ResourceId::default(),
    };
    let actor = decoded(headers, &X_ACTOR, Actor::parse)?.unwrap_or_default();
    Ok(Caller { resource, actor, scopes: Scopes::ALL })
}

/// Reads a header that is percent-encoded UTF-8.
///
/// # Errors
/// It is given twice, is not UTF-8, or cannot be parsed.
pub fn decoded<T>(
    headers: &HeaderMap,
    name: &HeaderName,
    parse: impl Fn(String) -> Result<T, TextFault>,
) -> Result<Option<T>, HeaderFault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let fault = |message: &str| HeaderFault { name: name.clone(), message: message.to_owned() };
    if values.next().is_some() {
        return Err(fault("is given twice"));
    }
    let is_encoded = is_percent_encoded(value.as_bytes());
    let text = percent_decode(value.as_bytes()).decode_utf8().ok().filter(|_| is_encoded);
    let text = text.ok_or_else(|| fault("must be percent-encoded UTF-8"))?;
    parse(text.into_owned()).map(Some).map_err(|wrong| fault(&wrong.to_string()))
}

/// Tells whether each `%` begins the encoding of a byte. What decodes takes any other for itself.
#[must_use]
pub fn is_percent_encoded(text: &[u8]) -> bool {
    let mut rests = text.split(|byte| *byte == b'%').skip(1);
    rests.all(|rest| rest.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}
