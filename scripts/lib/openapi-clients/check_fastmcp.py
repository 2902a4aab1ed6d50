"""FastMCP's server made from an OpenAPI document, called by a client in the same process."""

import asyncio
import json
import re

import httpx2
from fastmcp import Client, FastMCP

import scenario
from scenario import Refusal


class Session:
    def __init__(self, loop, client):
        self.loop, self.client = loop, client

    def call(self, operation, at, query, body):
        arguments = {**at, **query, **(body or {})}
        result = self.loop.run_until_complete(self.client.call_tool(operation, arguments, raise_on_error=False))
        if result.is_error:
            raise refusal(result.content[0].text)
        return result.structured_content


def refusal(text):
    """Finds the problem in what the model is told. That is cut short: what an agent needs has to come before the cut."""
    status, problem = re.search(r"HTTP error (\d+): .*? - (\{.*)", text, re.DOTALL).groups()
    members = re.findall(r'"(code|content|isError)": ("(?:[^"\\]|\\.)*"|true|false)', problem)
    return Refusal(int(status), {name: json.loads(value) for name, value in members[:3]})


async def opened():
    service = httpx2.AsyncClient(base_url=scenario.service_url(), trust_env=False)
    server = FastMCP.from_openapi(openapi_spec=scenario.tools_document(), client=service)
    return await Client(server).__aenter__()


loop = asyncio.new_event_loop()
client = loop.run_until_complete(opened())
tools = {tool.name: tool for tool in loop.run_until_complete(client.list_tools())}
scenario.equal(set(tools), scenario.OPERATIONS, "the tools")
bodies = {}
for name, tool in tools.items():
    assert tool.description, f"{name} has no description"
    # Names would be changed if a path, a query and a body had one in common.
    for parameter in tool.input_schema["properties"]:
        assert re.fullmatch("[A-Za-z]+(_[a-z]+)?", parameter), f"{name}: {parameter} was renamed"
    # The deletion answers with nothing.
    scenario.equal(tool.output_schema is None, name == "task_delete", f"{name} has no schema of its result")
    properties = tool.input_schema["properties"].items()
    bodies[name] = {key: schema for key, schema in properties if key not in ("thread_id", "task_id")}
scenario.check_body_schemas(bodies)
scenario.prove(Session(loop, client), "fastmcp")
loop.run_until_complete(client.close())
