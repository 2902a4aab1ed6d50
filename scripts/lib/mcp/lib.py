"""What the clients' checks share: where the service is, threads of their own, and what is stored there."""
import json
import os
import urllib.request
from urllib.parse import quote

SERVICE = os.environ["TASKLANE_URL"]
TOOLS = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]
_threads = 0


def new_thread(client: str) -> str:
    """A thread that no other check knows, with an id that has to be escaped."""
    global _threads
    _threads += 1
    return f"{client} {os.getpid()}/{_threads}"


def url(thread: str) -> str:
    return f"{SERVICE}/threads/{quote(thread, safe='')}/mcp?toolset=agentscope"


def stored(thread: str) -> list[tuple[str, str]]:
    with urllib.request.urlopen(f"{SERVICE}/threads/{quote(thread, safe='')}/tasks") as answer:
        return [(task["content"], task["status"]) for task in json.load(answer)["tasks"]]


async def exercise(client: str, session) -> None:
    """What each client does on two threads: list, call, fail, recover.

    `session(thread)` is an async context manager that yields (names, call); call(tool, arguments) returns (text, failed).
    """
    one, two = new_thread(client), new_thread(client)
    async with session(one) as (names, call), session(two) as (other_names, other_call):
        assert sorted(name.removeprefix("mcp__tasks__") for name in names) == TOOLS, names
        assert sorted(names) == sorted(other_names)
        text, failed = await call("TaskCreate", {"subject": "a", "description": "the first"})
        assert not failed and "Task (id=1)" in text, text
        text, failed = await other_call("TaskCreate", {"subject": "b", "description": ""})
        assert not failed and "Task (id=1)" in text, text
        text, failed = await call("TaskUpdate", {"task_id": "7", "status": "completed"})
        assert failed and "1" in text, (text, failed)
        # Strings where lists belong, as models send them.
        text, failed = await call("TaskCreate", {"subject": "c", "description": "", "metadata": {"n": 1}})
        assert not failed, text
        text, failed = await call("TaskUpdate", {"task_id": "1", "status": "completed"})
        assert not failed and "1" in text, text
        text, failed = await call("TaskList", {})
        assert not failed and "a" in text and "completed" in text, text
    assert stored(one) == [("a", "completed"), ("c", "pending")], stored(one)
    assert stored(two) == [("b", "pending")], stored(two)
    print(f"{client}: listed, called, failed and recovered on two threads", flush=True)
