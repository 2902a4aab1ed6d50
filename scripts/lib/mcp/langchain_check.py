"""LangChain's adapters."""
import asyncio
from contextlib import asynccontextmanager

from langchain_tasks import task_tools
from lib import SERVICE, exercise


@asynccontextmanager
async def session(thread):
    tools = {tool.name: tool for tool in await task_tools(SERVICE, thread)}

    async def call(tool, arguments):
        message = await tools[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        content = message.content
        return content if isinstance(content, str) else content[0]["text"], message.status == "error"

    yield list(tools), call


asyncio.run(exercise("langchain-mcp-adapters", session))
