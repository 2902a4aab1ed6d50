"""AgentScope's client inside a toolkit, and the remote list in an agent's state."""
import asyncio
import json
from contextlib import asynccontextmanager

from agentscope.message import ToolCallBlock
from agentscope.state import AgentState
from agentscope.tool import ToolResponse, Toolkit

from agentscope_tasks import BUILT_IN, TASK_TOOLS, RemoteTasks, task_client
from lib import SERVICE, exercise, new_thread


def toolkit(thread):
    return Toolkit(mcps=[task_client(SERVICE, thread)])


async def call_in(kit, state, tool, arguments):
    block = ToolCallBlock(id="1", name=f"mcp__tasks__{tool}", input=json.dumps(arguments))
    async for chunk in kit.call_tool(block, state):
        if isinstance(chunk, ToolResponse):
            text = "".join(part.text for part in chunk.content)
            return text, str(chunk.state).lower().endswith("error")
    raise AssertionError("no response")


@asynccontextmanager
async def session(thread):
    kit, state = toolkit(thread), AgentState()
    names = [schema["function"]["name"] for schema in await kit.get_tool_schemas()]

    async def call(tool, arguments):
        return await call_in(kit, state, tool, arguments)

    yield names, call


class FakeAgent:
    def __init__(self):
        self.state = AgentState()


async def mirrored():
    thread, agent = new_thread("agentscope state"), FakeAgent()
    kit, remote = toolkit(thread), RemoteTasks(SERVICE, thread)
    await call_in(kit, agent.state, "TaskCreate", {"subject": "a", "description": "d", "metadata": {"k": [1]}})

    async def reply(**_):
        yield "reply"

    assert [event async for event in remote.on_reply(agent, {"inputs": None}, reply)] == ["reply"]
    (task,) = agent.state.tasks_context.tasks
    assert (task.id, task.subject, task.state, task.metadata) == ("1", "a", "pending", {"k": [1]}), task

    async def act(tool_call):
        yield await call_in(kit, agent.state, "TaskUpdate", {"task_id": "1", "status": "completed"})

    block = ToolCallBlock(id="2", name=TASK_TOOLS[3], input="{}")
    assert len([chunk async for chunk in remote.on_acting(agent, {"tool_call": block}, act)]) == 1
    assert agent.state.tasks_context.tasks[0].state == "completed"

    async def model(tools, **_):
        return [tool["function"]["name"] for tool in tools]

    tools = [{"type": "function", "function": {"name": name}} for name in BUILT_IN + TASK_TOOLS]
    assert await remote.on_model_call(agent, {"tools": tools}, model) == TASK_TOOLS
    print("agentscope: the remote list is where the hint and the panel look, the built-in tools are hidden", flush=True)


async def main():
    await exercise("agentscope", session)
    await mirrored()


asyncio.run(main())
