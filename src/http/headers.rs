//! The headers of requests as the API document describes them. What reads them is [`call`](super::call).

use utoipa::IntoParams;

/// The headers that say who calls.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `edge` reads the headers")]
pub struct CallerHeaders {
    /// Whom the thread belongs to, percent-encoded UTF-8; `default` if not given.
    #[param(
        rename = "X-Resource-Id",
        nullable = false,
        required = false,
        min_length = 1,
        max_length = 256,
        pattern = "^([!-$&-~]|%[2-6][0-9A-Fa-f])+$",
        example = "default"
    )]
    x_resource_id: Option<String>,
    /// Who calls, as the history names it, percent-encoded UTF-8; `anonymous` if not given.
    #[param(
        rename = "X-Actor",
        nullable = false,
        required = false,
        min_length = 1,
        max_length = 256,
        pattern = "^([!-$&-~]|%[2-6][0-9A-Fa-f])+$",
        example = "researcher"
    )]
    x_actor: Option<String>,
}

/// The headers that make a write conditional.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct WriteHeaders {
    /// Write only if the state is one of these: entity tags as `ETag` gave them, the bare `"<revision>"`, or `*`. Else 412.
    #[param(rename = "If-Match", nullable = false, required = false, example = "")]
    if_match: Option<String>,
}

/// The header that lets a write only create.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct CreateHeader {
    /// `*`: write only if there is nothing yet. Else 412. Empty: as if it were not given.
    #[param(rename = "If-None-Match", nullable = false, required = false, pattern = "^[*]?$", example = "")]
    if_none_match: Option<String>,
}

/// The header that makes a write safe to repeat.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct RetryHeaders {
    /// Makes the call safe to repeat: a repeat under the same key is answered with the first answer. A new UUID for each
    /// new call; kept for a day. Empty: as if it were not given.
    #[param(
        rename = "Idempotency-Key",
        nullable = false,
        required = false,
        max_length = 255,
        pattern = "^([!-~]([ -~]*[!-~])?)?$",
        example = ""
    )]
    idempotency_key: Option<String>,
}

/// The header that shows a claim's token.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct TokenHeader {
    /// The token that the task's claim returned, if the task is claimed.
    #[param(rename = "X-Lease-Token", nullable = false, required = false, example = "")]
    x_lease_token: Option<String>,
}

/// The headers that make a read conditional.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct ReadHeaders {
    /// Answer 304 without a body if the state is one of these: entity tags as `ETag` gave them.
    #[param(rename = "If-None-Match", nullable = false, required = false, example = "")]
    if_none_match: Option<String>,
}

/// The header that lets a read wait for something new.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct WaitHeader {
    /// `wait=20` with `If-None-Match` waits up to so many seconds, at most 25, for something new before it answers 304.
    #[param(rename = "Prefer", nullable = false, required = false, example = "")]
    prefer: Option<String>,
}

/// The header that makes an answer small.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes; `Call` reads the headers")]
pub struct PreferHeader {
    /// `return=minimal` answers with the task alone.
    #[param(rename = "Prefer", nullable = false, required = false, example = "return=minimal")]
    prefer: Option<String>,
}
