//! The OpenAPI document: what the handlers say about themselves, and what holds for all of them.

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContactBuilder, Content, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required, Response,
    ResponseBuilder, ServerBuilder,
};
use utoipa::{PartialSchema, ToSchema};

use super::code::Code;
use super::problem::PROBLEM_JSON;
use super::wire::ProblemOut;

const ABOUT: &str = "Keeps the task list of every agent thread.\n\n\
    A thread need not be made: it begins with its first task, and until then has an empty list at revision 0. Every change \
    raises the list's revision by one; what nobody could tell apart is no change.\n\n\
    Every error is `application/problem+json` (RFC 9457) with a `code` from a closed list. `content` is a sentence that an \
    agent can act on.";

/// Returns the document's frame: everything but paths.
#[must_use]
pub fn frame() -> OpenApi {
    let tags = [
        ("tasks", "A thread's task list, whole and task by task."),
        ("coordination", "Sharing a list: claims, history and restores."),
        ("threads", "The threads of a resource."),
        ("live", "Changes as they happen, and what to tell an agent of them."),
        ("tools", "The tools of agents: calling them, and their schemas."),
        ("documents", "What describes this interface."),
        ("operation", "What whoever runs the service needs to know."),
    ];
    let mut license = LicenseBuilder::new().name("Apache-2.0").build();
    license.identifier = Some("Apache-2.0".to_owned());
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Tasklane")
                .description(Some(ABOUT))
                .version(env!("CARGO_PKG_VERSION"))
                .license(Some(license))
                .contact(Some(ContactBuilder::new().name(Some("The Tasklane maintainers")).build()))
                .build(),
        )
        .tags(Some(tags.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        // Nobody is asked who they are, yet.
        .security(Some([]))
        .build()
}

/// Adds what holds for every operation: where the service is, and the problems that each may be answered with.
#[must_use]
pub fn completed(mut document: OpenApi, public_url: &str) -> OpenApi {
    document.servers = Some(vec![ServerBuilder::new().url(public_url).description(Some("This service")).build()]);
    for (path, item) in &mut document.paths.paths {
        for operation in operations(item) {
            let id = operation.operation_id.as_deref();
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && matches!(id, Some("tool_call" | "task_release" | "task_heartbeat"))
            {
                body.required = Some(Required::False);
            }
            for status in statuses(path, operation) {
                let problem = RefOr::Ref(Ref::from_response_name(name(status)));
                operation.responses.responses.entry(status.to_string()).or_insert(problem);
            }
        }
    }
    let components = document.components.get_or_insert_default();
    let mut schemas = vec![(ProblemOut::name().into_owned(), ProblemOut::schema())];
    ProblemOut::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.responses.extend(STATUSES.map(|status| (name(status).to_owned(), RefOr::T(response(status)))));
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete]
        .into_iter()
        .filter_map(Option::as_mut)
}

/// Every status of a problem that the document names. Others come only from what is no call of an operation.
const STATUSES: [u16; 10] = [400, 404, 406, 409, 412, 413, 415, 422, 500, 503];

fn statuses(path: &str, operation: &Operation) -> Vec<u16> {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    let mut statuses = match id {
        "livez" | "limits" | "openapi_json" | "openapi_yaml" | "openapi_tools" => vec![500],
        "readyz" => vec![500, 503],
        "tool_list" => vec![400, 500],
        "problem_get" => vec![400, 404, 500],
        "thread_events" | "resource_events" => return vec![400, 500, 503],
        _ => vec![400, 406, 500, 503],
    };
    if operation.request_body.is_some() {
        statuses.extend([413, 415, 422]);
    }
    if path.contains("{task_id}") || path == "/threads/{thread_id}" || id == "tool_call" {
        statuses.push(404);
    }
    if is_write(id) {
        // Two uses of one key at a time, and what the domain refuses because of the list's state.
        statuses.extend([409, 422]);
    }
    if path.starts_with("/threads/") && id != "task_signal" {
        statuses.push(412);
    }
    statuses
}

fn is_write(id: &str) -> bool {
    !matches!(id, "task_check" | "task_get" | "task_history" | "task_signal" | "thread_get" | "thread_list")
        && (id.starts_with("task_") || id.starts_with("thread_") || id == "tool_call")
}

fn name(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        404 => "NotFound",
        406 => "NotAcceptable",
        409 => "Conflict",
        412 => "PreconditionFailed",
        413 => "BodyTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Unprocessable",
        503 => "Unavailable",
        _ => "Internal",
    }
}

/// Describes the problems of one status by their codes.
fn response(status: u16) -> Response {
    let codes = Code::ALL.iter().filter(|code| code.status().as_u16() == status);
    let meanings: Vec<String> = codes.map(|code| format!("- `{}`: {}", code.as_str(), code.meaning())).collect();
    let schema = Ref::from_schema_name(ProblemOut::name());
    ResponseBuilder::new()
        .description(meanings.join("\n"))
        .content(PROBLEM_JSON, Content::new(Some(RefOr::Ref(schema))))
        .build()
}

/// Writes the document as JSON.
#[must_use]
pub fn json(document: &OpenApi) -> String {
    // Only a map with keys that are not texts can fail, and there is none.
    document.to_pretty_json().unwrap_or_default()
}

/// Writes the document as YAML.
#[must_use]
pub fn yaml(document: &OpenApi) -> String {
    // As for JSON.
    document.to_yaml().unwrap_or_default()
}
