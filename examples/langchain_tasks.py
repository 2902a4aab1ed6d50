"""The task tools of one thread for a LangChain agent: `create_agent(model, tools=await task_tools(url, thread))`."""
from urllib.parse import quote

from langchain_mcp_adapters.client import MultiServerMCPClient


async def task_tools(service: str, thread: str):
    url = f"{service}/threads/{quote(thread, safe='')}/mcp?toolset=agentscope"
    return await MultiServerMCPClient({"tasks": {"transport": "streamable_http", "url": url}}).get_tools()
