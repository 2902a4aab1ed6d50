"""FastMCP's client."""
import asyncio
from contextlib import asynccontextmanager

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from lib import exercise, url


@asynccontextmanager
async def session(thread):
    async with Client(StreamableHttpTransport(url(thread))) as client:
        names = [tool.name for tool in await client.list_tools()]

        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            return result.content[0].text, result.is_error

        yield names, call


asyncio.run(exercise("fastmcp", session))
