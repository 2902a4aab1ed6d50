"""The task tools of one thread for the OpenAI Agents SDK: `async with task_server(url, thread) as server: Agent(mcp_servers=[server])`."""
from urllib.parse import quote

from agents.mcp import MCPServerStreamableHttp


def task_server(service: str, thread: str) -> MCPServerStreamableHttp:
    url = f"{service}/threads/{quote(thread, safe='')}/mcp?toolset=agentscope"
    return MCPServerStreamableHttp(
        name="tasks",
        params={"url": url},
        # A call waits behind the others of its thread; the default of five seconds is less than the service may take.
        client_session_timeout_seconds=30,
        cache_tools_list=True,
    )
