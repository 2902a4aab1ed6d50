"""LiteLLM's MCP tools made from an OpenAPI document, as its gateway makes and calls them."""

import asyncio
import re

from litellm.proxy.mcp_server.exceptions import MCPOpenApiUpstreamError
from litellm.proxy.mcp_server.openapi_to_mcp_generator import (
    build_input_schema,
    create_tool_function,
    get_base_url,
    sanitize_openapi_tool_name,
)
from litellm.proxy.mcp_server.tool_outcome import JsonResult

import scenario
from scenario import Refusal


class Tools:
    def __init__(self, document):
        base_url = get_base_url(document)
        scenario.equal(base_url, scenario.service_url(), "the address in the document")
        self.functions, self.schemas = {}, {}
        for path, method, operation in scenario.operations(document):
            name = sanitize_openapi_tool_name(operation["operationId"])
            self.schemas[name] = build_input_schema(operation)
            self.functions[name] = create_tool_function(path, method, operation, base_url)
        # Its clients belong to the loop in which they were made.
        self.loop = asyncio.new_event_loop()

    def call(self, operation, at, query, body):
        arguments = {**at, **query} | ({} if body is None else {"body": body})
        try:
            outcome = self.loop.run_until_complete(self.functions[operation](**arguments))
        except MCPOpenApiUpstreamError as error:
            # It keeps the body of an error to itself.
            raise Refusal(error.status_code, None) from error
        if isinstance(outcome, JsonResult):
            return outcome.value
        scenario.equal(outcome.text, "", "an answer that is not JSON")
        return None


document = scenario.tools_document()
client = Tools(document)
scenario.equal(set(client.schemas), scenario.OPERATIONS, "the tools")
for name, schema in client.schemas.items():
    for parameter, about in schema["properties"].items():
        scenario.equal(bool(re.fullmatch("[a-z_]+", parameter)), True, f"{name}: {parameter} is a plain name")
        assert about["description"], f"{name}: {parameter} has no description"
# Of a parameter it keeps the description alone, which therefore has to say what may be asked for.
status = client.schemas["task_check"]["properties"]["status"]["description"]
for value in scenario.STATUSES:
    assert value in status, f"task_check: the description of status does not name {value}"
bodies = {
    name: schema["properties"]["body"]["properties"]
    for name, schema in client.schemas.items()
    if "body" in schema["properties"]
}
scenario.check_body_schemas(bodies)
scenario.equal(client.schemas["task_write"]["required"], ["thread_id", "body"], "what task_write requires")
scenario.prove(client, "litellm")
