//! The answers of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, ErrorData, InitializeRequestParams, InitializeResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::arguments::{self, Read};
use super::incoming::Incoming;
use super::surface::Surface;
use super::{listen, resource, unanswered};
use crate::domain::ThreadId;
use crate::edge::{CallerFault, parse_key, repeat};
use crate::service::{Caller, Lists};
use crate::tool_call::{self, Repeat, ToolAnswer, ToolCall};
use crate::toolset::{self, Invalid, Tool, ToolResult, Toolset};

/// Where a request of the protocol carries the key under which its answer is kept for repeated calls.
const IDEMPOTENCY_KEY: &str = "io.tasklane/idempotency-key";
/// Where a result of the protocol says that it is the answer to an earlier call.
const IDEMPOTENCY_REPLAYED: &str = "io.tasklane/idempotency-replayed";
const NO_THREAD_ID: &str = "Say which thread is meant: give thread_id, the id of the conversation or job whose task \
                            list this is. Nothing was changed.";
const NO_THREAD_HEADER: &str = "The client does not say which thread is meant: it has to send the header X-Thread-Id \
                                with each call. Nothing was changed.";
/// How long clients may keep what only a new release changes.
const STATIC_TTL_MS: u64 = 300_000;

/// Answers one request; made anew for each.
#[derive(Debug, Clone)]
pub(super) struct Server(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    surface: Surface,
    lists: Lists,
}

impl Server {
    pub(super) fn new(surface: Surface, lists: Lists) -> Self {
        Self(Arc::new(Parts { surface, lists }))
    }

    /// Does what a tool call asks for. Whatever an agent or its runtime can mend is a result.
    async fn call(&self, tool: &'static Tool, incoming: &Incoming, meta_key: Option<&Value>) -> Called {
        let read = arguments::read(incoming.arguments(), incoming.thread());
        let caller = match incoming.caller() {
            Ok(caller) => caller,
            Err(fault) => return Called::failed(tool, &fault.to_string()),
        };
        let read = match (read, incoming.thread()) {
            (Ok(read), _) => read,
            (Err(invalid), Some(thread)) => return self.misunderstood(tool, caller, thread, &invalid).await,
            (Err(invalid), None) => return Called::failed(tool, &invalid.sentence()),
        };
        let Some(thread) = read.thread.clone() else {
            let sentence = if self.0.surface.names_thread { NO_THREAD_ID } else { NO_THREAD_HEADER };
            return Called::failed(tool, sentence);
        };
        let repeat_key = match repeat_key(&read, meta_key, incoming.headers().repeat_key.as_deref()) {
            Ok(key) => key,
            Err(invalid) => return self.misunderstood(tool, caller, &thread, &invalid).await,
        };
        if tool.name == "task_wait" {
            incoming.patience().grant(tool_call::WAIT_MAX);
        }
        let call = ToolCall {
            tool,
            thread,
            arguments: read.arguments.as_ref(),
            precondition: None,
            token: incoming.headers().token.clone(),
            repeat: repeat_key.map(|key| repeat_of(tool, caller, &key, &read)),
        };
        Called::of(tool, tool_call::run(&self.0.lists, caller, call).await)
    }

    async fn misunderstood(
        &self,
        tool: &'static Tool,
        caller: &Caller,
        thread: &ThreadId,
        invalid: &Invalid,
    ) -> Called {
        Called::of(
            tool,
            tool_call::misunderstood(&self.0.lists, caller, &caller.thread(thread.clone()), tool, invalid).await,
        )
    }
}

/// What a tool call came to.
struct Called {
    result: ToolResult,
    is_replayed: bool,
}

impl Called {
    fn failed(tool: &Tool, sentence: &str) -> Self {
        Self { result: toolset::failed(tool, sentence, None), is_replayed: false }
    }

    fn of(tool: &Tool, answer: Result<ToolAnswer, tool_call::Error>) -> Self {
        match answer {
            Ok(ToolAnswer { is_error, text, body, is_replayed, .. }) => {
                Self { result: ToolResult { is_error, text, body }, is_replayed }
            }
            Err(error) => {
                unanswered::log(&error);
                let (sentence, list) = unanswered::sentence(&error);
                Self { result: toolset::failed(tool, &sentence, list), is_replayed: false }
            }
        }
    }

    /// Makes it a result of the protocol; its structured part goes by another way.
    fn into_result(self, tool: &Tool, incoming: &Incoming) -> CallToolResult {
        let ToolResult { is_error, text, body } = self.result;
        let content = vec![ContentBlock::text(text)];
        // Mastra's client throws away the structured part of what the protocol calls an error, and with it the list.
        let mut result = match tool.toolset {
            Toolset::AgentScope | Toolset::Coordination if is_error => CallToolResult::error(content),
            Toolset::Mastra | Toolset::AgentScope | Toolset::Coordination => CallToolResult::success(content),
        };
        result.structured_content = Some(json!({}));
        incoming.keep_structured(body);
        if self.is_replayed {
            result.meta = Some(MetaObject::from(json_object(IDEMPOTENCY_REPLAYED, true)));
        }
        result
    }
}

fn json_object(key: &str, value: bool) -> serde_json::Map<String, Value> {
    serde_json::Map::from_iter([(key.to_owned(), Value::Bool(value))])
}

/// Returns the one key that the call gives, wherever it gives it.
fn repeat_key(read: &Read, meta: Option<&Value>, header: Option<&str>) -> Result<Option<String>, Invalid> {
    let wrong = |message: &str| Invalid::one("/_meta", format!("{IDEMPOTENCY_KEY} {message}"));
    let meta = match meta {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(parse_key(text).map_err(|fault| wrong(&fault.to_string()))?),
        Some(_) => return Err(wrong("must be a string")),
    };
    let mut given = [read.repeat_key.clone(), meta, header.map(str::to_owned)].into_iter().flatten();
    let key = given.next();
    if given.any(|other| Some(&other) != key.as_ref()) {
        return Err(wrong("is given in several places, and not alike"));
    }
    Ok(key)
}

/// The same as for a tool call over HTTP, so that a call may be repeated on another edge.
fn repeat_of(tool: &Tool, caller: &Caller, key: &str, read: &Read) -> Repeat {
    repeat(key, &caller.actor, format!("tool/{}", tool.name), "", read.arguments.as_ref())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.0.surface.info.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        // Before 2026-07-28 a subscription needs a session, and there are none.
        if let Some(resources) = &mut answer.capabilities.resources {
            resources.subscribe = None;
        }
        Ok(answer)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(listen::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        listen::listen(&self.0.lists, &context).await
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.surface.tools.clone();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let incoming = Incoming::of(&context)?;
        let Some(tool) = self.0.surface.find(&request.name) else {
            let names: Vec<&str> = self.0.surface.tools.iter().map(|tool| tool.name.as_ref()).collect();
            let message = format!("There is no tool {:?} here; there are {}.", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let called = self.call(tool, incoming, context.meta.get(IDEMPOTENCY_KEY)).await;
        Ok(called.into_result(tool, incoming).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = Incoming::of(&context)?.thread().map(resource::listed).into_iter().collect();
        let result = ListResourcesResult::with_all_items(resources);
        Ok(result.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = if self.0.surface.names_thread { vec![resource::template()] } else { Vec::new() };
        let result = ListResourceTemplatesResult::with_all_items(templates);
        Ok(result.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (incoming, uri) = (Incoming::of(&context)?, request.uri);
        let caller =
            incoming.caller().map_err(|fault: &CallerFault| ErrorData::invalid_request(fault.to_string(), None))?;
        let (Some(thread), Some(tool)) = (resource::thread(&uri), self.0.surface.reader()) else {
            return Err(resource::unknown(&uri));
        };
        // What the URL binds to one thread shows no other.
        if incoming.thread().is_some_and(|bound| *bound != thread) {
            return Err(resource::unknown(&uri));
        }
        let call = ToolCall { tool, thread, arguments: None, precondition: None, token: None, repeat: None };
        let answer = tool_call::run(&self.0.lists, caller, call).await.map_err(|error| {
            unanswered::log(&error);
            ErrorData::internal_error(unanswered::sentence(&error).0, None)
        })?;
        let contents = vec![
            ResourceContents::text(answer.body.get(), uri.as_str()).with_mime_type("application/json"),
            ResourceContents::text(answer.text, uri),
        ];
        Ok(ReadResourceResult::new(contents).with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }

    /// Answers what the library could not read as any request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 4] = ["tools/call", "resources/read", "tools/list", "resources/list"];
        if KNOWN.contains(&request.method.as_str()) {
            return Err(ErrorData::invalid_params(format!("The params of {} are malformed.", request.method), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }
}
