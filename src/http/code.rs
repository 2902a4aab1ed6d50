//! Every code that a problem can carry: a closed list, published in the OpenAPI document.

use axum::http::StatusCode;
use serde::Serialize;

macro_rules! codes {
    ($($variant:ident, $name:literal, $status:ident, $title:literal, $meaning:literal;)*) => {
        /// What went wrong, for programs. The list is closed: a code keeps its meaning and its status for good.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// Every code, in the order of its status.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name that problems carry.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the status of answers with this code.
            #[must_use]
            pub fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            /// Returns the code's title, the same for each problem with it.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Returns what the code means and what to do about it.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    InvalidPath, "invalid_path", BAD_REQUEST, "Invalid path",
        "A part of the path cannot be what it must be, such as a thread id that is too long. `errors` names it.";
    InvalidQuery, "invalid_query", BAD_REQUEST, "Invalid query",
        "A query parameter is unknown, repeated or malformed. `errors` names it.";
    InvalidHeader, "invalid_header", BAD_REQUEST, "Invalid header",
        "A header is malformed, or two headers contradict each other. `errors` names it.";
    ResourceRequired, "resource_required", BAD_REQUEST, "Resource required",
        "This service takes no call without the header `X-Resource-Id`.";
    MalformedJson, "malformed_json", BAD_REQUEST, "Malformed JSON",
        "The body is not JSON.";
    BadRequest, "bad_request", BAD_REQUEST, "Bad request",
        "The request could not be understood.";
    Unauthenticated, "unauthenticated", UNAUTHORIZED, "Unauthenticated",
        "The call needs a key.";
    Forbidden, "forbidden", FORBIDDEN, "Forbidden",
        "The caller may not do this.";
    NotFound, "not_found", NOT_FOUND, "Not found",
        "There is nothing at this path. `GET /openapi.json` lists what there is.";
    UnknownThread, "unknown_thread", NOT_FOUND, "Unknown thread",
        "No list was ever written under this thread id, or it was deleted. Write to it to begin one, or see `GET /threads`.";
    UnknownTask, "unknown_task", NOT_FOUND, "Unknown task",
        "The list has no task with this id. `availableTaskIds` lists the ids there are.";
    UnknownTool, "unknown_tool", NOT_FOUND, "Unknown tool",
        "There is no tool of this name. `GET /tools` lists the tools.";
    UnknownCode, "unknown_code", NOT_FOUND, "Unknown problem code",
        "No problem has this code.";
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed",
        "The path has other methods. The header `Allow` lists them.";
    NotAcceptable, "not_acceptable", NOT_ACCEPTABLE, "Not acceptable",
        "The header `Accept` leaves nothing that could be answered; answers are JSON.";
    RequestTimeout, "request_timeout", REQUEST_TIMEOUT, "Request timeout",
        "The request did not arrive in time.";
    TaskExists, "task_exists", CONFLICT, "Task exists",
        "The list has a task with the new task's id already.";
    TaskHeld, "task_held", CONFLICT, "Task held",
        "Somebody holds the task, and the call shows no lease token or another one. `holder` and `expiresAt` say who and until when.";
    LeaseEnded, "lease_ended", CONFLICT, "Lease ended",
        "The lease token is of a claim that has ended, and nobody holds the task now. Claim it again.";
    TaskNotClaimed, "task_not_claimed", CONFLICT, "Task not claimed",
        "Nobody has claimed the task, so that it can be neither given back nor held for longer.";
    TaskCompleted, "task_completed", CONFLICT, "Task completed",
        "The task is completed, so that it can be neither claimed nor given back.";
    TaskBlocked, "task_blocked", CONFLICT, "Task blocked",
        "The task waits for others that are not completed. `availableTaskIds` lists them.";
    FutureRevision, "future_revision", CONFLICT, "Future revision",
        "The list has not had this revision yet.";
    RevisionNotKept, "revision_not_kept", CONFLICT, "Revision not kept",
        "Changes since this revision are not kept any more, so that it cannot be restored.";
    SeveralInProgress, "several_in_progress", CONFLICT, "Several tasks in progress",
        "One owner would have several tasks in progress; at most one may be.";
    UnknownDependency, "unknown_dependency", CONFLICT, "Unknown dependency",
        "A dependency leads to a task that the list does not have. `availableTaskIds` lists the ids there are.";
    DependencyCycle, "dependency_cycle", CONFLICT, "Dependency cycle",
        "Tasks would wait for each other. `cycle` is the path: each task blocks the next.";
    KeyInUse, "idempotency_key_in_use", CONFLICT, "Idempotency key in use",
        "A call with the same `Idempotency-Key` may still be running. Repeat this one, with the same key, after `Retry-After`.";
    PreconditionFailed, "precondition_failed", PRECONDITION_FAILED, "Precondition failed",
        "The state is not the one that `If-Match` or `If-None-Match` requires. `tasks`, `revision` and `ETag` are the current one.";
    BodyTooLarge, "body_too_large", PAYLOAD_TOO_LARGE, "Body too large",
        "The body has more bytes than `GET /limits` allows.";
    UriTooLong, "uri_too_long", URI_TOO_LONG, "URI too long",
        "The request's target is too long.";
    UnsupportedMediaType, "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type",
        "The body must be JSON and say so: `Content-Type: application/json`.";
    InvalidBody, "invalid_body", UNPROCESSABLE_ENTITY, "Invalid body",
        "The body is JSON but not what the operation takes. `errors` names every fault at once.";
    SelfDependency, "self_dependency", UNPROCESSABLE_ENTITY, "Self-dependency",
        "A task would block itself.";
    TooManyTasks, "too_many_tasks", UNPROCESSABLE_ENTITY, "Too many tasks",
        "The list would have more tasks than `GET /limits` allows.";
    ListTooLarge, "list_too_large", UNPROCESSABLE_ENTITY, "List too large",
        "The list's texts would have more bytes than `GET /limits` allows.";
    DescriptionTooLarge, "description_too_large", UNPROCESSABLE_ENTITY, "Description too large",
        "A description has more bytes than `GET /limits` allows.";
    MetadataTooLarge, "metadata_too_large", UNPROCESSABLE_ENTITY, "Metadata too large",
        "A task's metadata has more bytes than `GET /limits` allows.";
    MetadataTooDeep, "metadata_too_deep", UNPROCESSABLE_ENTITY, "Metadata too deep",
        "A task's metadata is nested more deeply than `GET /limits` allows.";
    KeyReused, "idempotency_key_reused", UNPROCESSABLE_ENTITY, "Idempotency key reused",
        "The `Idempotency-Key` was used for another call, nothing was changed. Give each new call a key of its own.";
    HeadersTooLarge, "headers_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE, "Headers too large",
        "The request's headers are too large.";
    Internal, "internal", INTERNAL_SERVER_ERROR, "Internal error",
        "The service failed. The log has the cause under the request id.";
    StoreUnavailable, "store_unavailable", SERVICE_UNAVAILABLE, "Store unavailable",
        "The database does not answer. Nothing is known to have changed; try again later.";
    Busy, "busy", SERVICE_UNAVAILABLE, "Busy",
        "Others were changing the list until the request's time was up. Nothing has changed; try again.";
    OutcomeUnknown, "outcome_unknown", SERVICE_UNAVAILABLE, "Outcome unknown",
        "The connection to the database broke during the change, which may or may not have happened. Read before trying again.";
    Timeout, "timeout", SERVICE_UNAVAILABLE, "Timeout",
        "The request took too long. A change may or may not have happened. Read before trying again.";
    Overloaded, "overloaded", SERVICE_UNAVAILABLE, "Overloaded",
        "Too many requests are being worked on. Nothing has changed; try again later.";
    Draining, "draining", SERVICE_UNAVAILABLE, "Draining",
        "The service is about to end. Ask another replica.";
}

impl Code {
    /// Returns the code of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// Returns the code for an answer of the framework, of which nothing but the status is known.
    #[must_use]
    pub(super) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::UNAUTHORIZED => Self::Unauthenticated,
            StatusCode::FORBIDDEN => Self::Forbidden,
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::MethodNotAllowed,
            StatusCode::NOT_ACCEPTABLE => Self::NotAcceptable,
            StatusCode::REQUEST_TIMEOUT => Self::RequestTimeout,
            StatusCode::PAYLOAD_TOO_LARGE => Self::BodyTooLarge,
            StatusCode::URI_TOO_LONG => Self::UriTooLong,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::UnsupportedMediaType,
            StatusCode::UNPROCESSABLE_ENTITY => Self::InvalidBody,
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self::HeadersTooLarge,
            StatusCode::SERVICE_UNAVAILABLE => Self::Overloaded,
            status if status.is_server_error() => Self::Internal,
            _ => Self::BadRequest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_the_same_name_in_json_and_in_rust() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert_eq!(Code::parse(code.as_str()), Some(*code));
        }
    }
}
