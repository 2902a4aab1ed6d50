"""The OpenAI Agents SDK's client."""
import asyncio
from contextlib import asynccontextmanager

from openai_agents_tasks import task_server
from lib import SERVICE, exercise


@asynccontextmanager
async def session(thread):
    async with task_server(SERVICE, thread) as server:
        names = [tool.name for tool in await server.list_tools()]

        async def call(tool, arguments):
            result = await server.call_tool(tool, arguments)
            return result.content[0].text, bool(getattr(result, "is_error", getattr(result, "isError", False)))

        yield names, call


asyncio.run(exercise("openai-agents", session))
