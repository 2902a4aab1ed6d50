//! The answers of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    InitializeRequestParams, InitializeResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

use super::incoming::Incoming;
use super::surface::Surface;
use super::{call, listen, resource, unanswered};
use crate::edge::CallerFault;
use crate::service::Lists;
use crate::tool_call::{self, ToolCall};

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
        let (surface, key) = (&self.0.surface, context.meta.get(call::IDEMPOTENCY_KEY));
        let called = call::call(&self.0.lists, tool, surface.names_thread, incoming, key).await;
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
