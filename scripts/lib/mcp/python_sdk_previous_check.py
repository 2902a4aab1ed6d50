"""The previous major of the official Python SDK."""
import asyncio
from contextlib import asynccontextmanager

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from lib import exercise, url


@asynccontextmanager
async def session(thread):
    async with streamablehttp_client(url(thread)) as (read, write, _), ClientSession(read, write) as client:
        await client.initialize()
        names = [tool.name for tool in (await client.list_tools()).tools]

        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments)
            return result.content[0].text, result.isError

        yield names, call


asyncio.run(exercise("mcp 1", session))
