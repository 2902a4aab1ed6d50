"""What every client must be able to do with the tools document, whatever calls look like in it."""

import json
import sys
import urllib.request
from dataclasses import dataclass
from typing import Any, Protocol

OPERATIONS = {
    "task_write",
    "task_check",
    "task_create",
    "task_clear",
    "task_get",
    "task_update",
    "task_delete",
    "task_complete",
    "thread_list",
}
STATUSES = ["pending", "in_progress", "completed"]


@dataclass
class Refusal(Exception):
    """An answer that is an error: its status, and its problem if the client lets callers see it."""

    status: int
    problem: dict[str, Any] | None


class Client(Protocol):
    def call(self, operation: str, at: dict[str, str], query: dict[str, Any], body: Any) -> Any:
        """Calls an operation and returns the answer's body; raises `Refusal` for an error."""


def service_url() -> str:
    return sys.argv[1]


def document(name: str) -> dict[str, Any]:
    # A proxy of the environment must not come between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{service_url()}/{name}", timeout=30) as answer:
        return json.load(answer)


def tools_document() -> dict[str, Any]:
    return document("openapi-tools.json")


def operations(document: dict[str, Any]):
    """Yields path, method and operation."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def equal(actual: Any, expected: Any, what: str) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: {actual!r} instead of {expected!r}")


def check_body_schemas(schemas: dict[str, dict[str, Any]]) -> None:
    """Checks that a model would see what may be in each body. `schemas` has each operation's properties of the body."""
    expected = {
        "task_write": {"tasks"},
        "task_create": {
            *("id", "content", "status", "activeForm", "description", "owner", "metadata", "blocks", "blockedBy"),
        },
        "task_update": {
            *("content", "status", "activeForm", "description", "owner", "metadata"),
            *("addBlocks", "addBlockedBy", "removeBlocks", "removeBlockedBy"),
        },
    }
    for operation, names in expected.items():
        equal(set(schemas[operation]), names, f"the body of {operation}")
        for name, schema in schemas[operation].items():
            assert schema.get("description"), f"{operation}: {name} has no description"
    item = schemas["task_write"]["tasks"]["items"]["properties"]
    equal(set(item), {"id", "content", "status", "activeForm"}, "an item of task_write")
    for status in (item["status"], schemas["task_create"]["status"], schemas["task_update"]["status"]):
        equal(status["enum"], STATUSES, "the statuses that a model may choose from")


def refused(client: Client, status: int, code: str, *call: Any) -> None:
    try:
        answer = client.call(*call)
    except Refusal as refusal:
        equal(refusal.status, status, f"the status of {call}")
        if refusal.problem is not None:
            equal(refusal.problem["code"], code, f"the code of {call}")
            equal(refusal.problem["isError"], True, "isError")
            assert refusal.problem["content"], "a problem that tells an agent nothing"
    else:
        raise AssertionError(f"{call} was answered with {answer!r}")


def prove(client: Client, name: str) -> None:
    """Calls every operation and checks what comes of it. `name` keeps the threads of the clients apart."""
    here, there = {"thread_id": f"{name} here"}, {"thread_id": f"{name} there"}

    items = [
        {"content": "Read the code", "status": "in_progress", "activeForm": "Reading the code"},
        {"id": "fix", "content": "Fix the bug", "status": "pending", "activeForm": "Fixing the bug"},
    ]
    written = client.call("task_write", here, {}, {"tasks": items})
    equal([task["id"] for task in written["tasks"]], ["task_read_the_code", "fix"], "the ids of the new list")
    equal(written["revision"], 1, "the revision of the new list")
    equal(written["isError"], False, "isError")

    other = [{"content": "Cook", "status": "pending", "activeForm": "Cooking"}]
    client.call("task_write", there, {}, {"tasks": other})
    seen = [task["content"] for task in client.call("task_check", here, {}, None)["tasks"]]
    equal(seen, ["Read the code", "Fix the bug"], "what one thread sees of two")
    seen = [task["content"] for task in client.call("task_check", there, {}, None)["tasks"]]
    equal(seen, ["Cook"], "what the other thread sees of two")

    draft = {"content": "Tell the users", "metadata": {"priority": 2}, "blockedBy": ["fix"]}
    created = client.call("task_create", here, {}, draft)
    equal((created["id"], created["status"], created["owner"]), ("1", "pending", None), "the new task")
    equal((created["metadata"], created["blockedBy"]), ({"priority": 2}, ["fix"]), "what the new task was given")

    patch = {"owner": "researcher", "description": "In the changelog."}
    updated = client.call("task_update", here | {"task_id": "1"}, {}, patch)
    equal([task["owner"] for task in updated["tasks"]], [None, None, "researcher"], "the owners after the update")
    got = client.call("task_get", here | {"task_id": "1"}, {}, None)
    equal((got["description"], got["metadata"]), ("In the changelog.", {"priority": 2}), "the task after the update")

    owned = client.call("task_check", here, {"owner": "researcher"}, None)
    equal([task["id"] for task in owned["tasks"]], ["1"], "the tasks of one owner")
    ready = client.call("task_check", here, {"status": "pending", "ready": True}, None)
    equal([task["id"] for task in ready["tasks"]], ["fix"], "the tasks that can be begun")

    completed = client.call("task_complete", here | {"task_id": "fix"}, {}, None)
    equal([task["status"] for task in completed["tasks"]], ["in_progress", "completed", "pending"], "after completion")
    summary = client.call("task_check", here, {}, None)["summary"]
    equal((summary["total"], summary["completed"], summary["allCompleted"]), (3, 1, False), "the summary")

    refused(client, 404, "unknown_task", "task_complete", here | {"task_id": "nowhere"}, {}, None)
    both = [item | {"status": "in_progress"} for item in items]
    refused(client, 409, "several_in_progress", "task_write", here, {}, {"tasks": both})
    refused(client, 422, "invalid_body", "task_update", here | {"task_id": "1"}, {}, {"status": "done"})

    equal(client.call("task_delete", here | {"task_id": "1"}, {}, None), None, "the answer to a deletion")
    refused(client, 404, "unknown_task", "task_get", here | {"task_id": "1"}, {}, None)
    page = client.call("thread_list", {}, {"limit": 1}, None)
    equal([thread["threadId"] for thread in page["threads"]], [f"{name} here"], "the first page of threads")
    page = client.call("thread_list", {}, {"limit": 1, "cursor": page["nextCursor"]}, None)
    equal([thread["threadId"] for thread in page["threads"]], [f"{name} there"], "the second page of threads")

    equal(client.call("task_clear", here, {}, None)["tasks"], [], "the cleared list")
    equal(len(client.call("task_check", there, {}, None)["tasks"]), 1, "the other thread in the end")
