//! The task list of a thread as a resource of the protocol.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{ErrorData, Resource, ResourceTemplate};
use serde_json::json;

use crate::domain::ThreadId;

/// Everything but what RFC 3986 calls unreserved.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const BEFORE: &str = "tasklane://threads/";
const AFTER: &str = "/tasks";
const JSON: &str = "application/json";
const DESCRIPTION: &str = "The task list of the thread as it is now, as JSON and as text.";

/// Returns the URI of a thread's task list.
pub(super) fn uri(thread: &ThreadId) -> String {
    format!("{BEFORE}{}{AFTER}", utf8_percent_encode(thread.as_str(), SEGMENT))
}

/// Returns the thread whose task list has this URI.
pub(super) fn thread(uri: &str) -> Option<ThreadId> {
    let segment = uri.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    if segment.contains('/') {
        return None;
    }
    ThreadId::parse(percent_decode_str(segment).decode_utf8().ok()?).ok()
}

/// Describes a thread's task list.
pub(super) fn listed(thread: &ThreadId) -> Resource {
    Resource::new(uri(thread), "tasks").with_title("Task list").with_description(DESCRIPTION).with_mime_type(JSON)
}

/// Describes the task lists of all threads.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{BEFORE}{{thread_id}}{AFTER}"), "tasks")
        .with_title("Task list of a thread")
        .with_description(DESCRIPTION)
        .with_mime_type(JSON)
}

/// Says that there is no such resource.
pub(super) fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("There is no such resource.", Some(json!({ "uri": uri })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_thread_has_a_uri_that_leads_back() {
        for id in ["thread-1", "a/b c", "修 ü", "%2F", "..."] {
            let id = ThreadId::parse(id).unwrap();
            assert_eq!(thread(&uri(&id)), Some(id));
        }
        for uri in ["tasklane://threads//tasks", "tasklane://threads/a/b/tasks", "tasklane://threads/a", "http://x"] {
            assert_eq!(thread(uri), None, "{uri}");
        }
    }
}
