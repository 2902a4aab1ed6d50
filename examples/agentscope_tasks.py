"""The task tools of one thread for an AgentScope agent, and the list in its <tasks> hint and in the web page's panel.

Agent(..., toolkit=Toolkit(mcps=[task_client(url, thread)]), middlewares=[RemoteTasks(url, thread)],
      injection_config=InjectionConfig(task_tool_names=TASK_TOOLS))
"""
from urllib.parse import quote

import httpx
from agentscope.mcp import HttpMCPConfig, MCPClient
from agentscope.middleware import MiddlewareBase
from agentscope.state import Task

BUILT_IN = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]
TASK_TOOLS = [f"mcp__tasks__{name}" for name in BUILT_IN]


def task_client(service: str, thread: str) -> MCPClient:
    """The client: one for each thread."""
    url = f"{service}/threads/{quote(thread, safe='')}/mcp?toolset=agentscope"
    return MCPClient(name="tasks", is_stateful=False, mcp_config=HttpMCPConfig(url=url))


class RemoteTasks(MiddlewareBase):
    """Copies the remote list to where the <tasks> hint and the panel read it, and hides the built-in task tools.

    An agent of your own has only the tools that you give it. The app's agents always have the four built-in ones; there,
    pass this in `create_app(extra_agent_middlewares=…)`.
    """

    def __init__(self, service: str, thread: str) -> None:
        self.url = f"{service}/threads/{quote(thread, safe='')}/tools/TaskList"

    async def refresh(self, agent) -> None:
        async with httpx.AsyncClient() as client:
            answer = (await client.post(self.url, json={})).raise_for_status().json()
        if not answer["isError"]:
            agent.state.tasks_context.tasks = [Task(**task) for task in answer["tasks"]]

    async def on_reply(self, agent, input_kwargs, next_handler):
        await self.refresh(agent)
        async for event in next_handler(**input_kwargs):
            yield event

    async def on_acting(self, agent, input_kwargs, next_handler):
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        if input_kwargs["tool_call"].name in TASK_TOOLS:
            await self.refresh(agent)

    async def on_model_call(self, agent, input_kwargs, next_handler):
        tools = [tool for tool in input_kwargs["tools"] or [] if tool["function"]["name"] not in BUILT_IN]
        return await next_handler(**{**input_kwargs, "tools": tools})
