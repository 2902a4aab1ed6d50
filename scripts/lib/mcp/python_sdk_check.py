"""The official Python SDK, in both eras of the protocol."""
import asyncio
from contextlib import asynccontextmanager

from mcp import Client
from lib import exercise, url


def in_mode(mode):
    @asynccontextmanager
    async def session(thread):
        async with Client(url(thread), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]

            async def call(tool, arguments):
                result = await client.call_tool(tool, arguments)
                return result.content[0].text, result.is_error

            yield names, call

    return session


async def main():
    for mode in ("auto", "legacy", "2026-07-28"):
        await exercise(f"mcp {mode}", in_mode(mode))


asyncio.run(main())
