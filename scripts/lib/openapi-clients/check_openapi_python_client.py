"""The client that openapi-python-client generated from openapi.yaml: typed calls, typed answers and typed problems."""

import importlib
import pkgutil

import scenario
import tasklane_client.api
from scenario import Refusal
from tasklane_client import Client, models
from tasklane_client.models import ProblemOut


class Generated:
    """Calls the generated functions with the generated models, and returns answers as the models write them again."""

    bodies = {
        "task_write": models.TaskWriteBody,
        "task_create": models.TaskCreateBody,
        "task_update": models.TaskUpdateBody,
    }
    answers = {
        "task_write": models.ListOut,
        "task_check": models.CheckOut,
        "task_create": models.TaskOut,
        "task_get": models.TaskOut,
        "task_update": models.ListOut,
        "task_complete": models.ListOut,
        "task_clear": models.ListOut,
        "thread_list": models.ThreadsOut,
    }

    def __init__(self):
        self.client = Client(base_url=scenario.service_url(), httpx_args={"trust_env": False})

    def call(self, operation, at, query, body):
        arguments = at | query
        if "status" in query:
            arguments["status"] = models.TaskCheckStatus(query["status"])
        if body == {"status": "done"}:
            # Its types do not let a wrong status through, so here is one that only the service can refuse.
            body = {"content": ""}
        if body is not None:
            arguments["body"] = self.bodies[operation].from_dict(body)
        answer = modules[operation].sync_detailed(client=self.client, **arguments)
        if answer.status_code >= 400:
            assert isinstance(answer.parsed, ProblemOut), f"{operation}: {answer.status_code} was not parsed"
            raise Refusal(int(answer.status_code), answer.parsed.to_dict())
        if operation == "task_delete":
            scenario.equal((int(answer.status_code), answer.parsed), (204, None), "the answer to a deletion")
            return None
        scenario.equal(type(answer.parsed), self.answers[operation], f"what {operation} was parsed to")
        return answer.parsed.to_dict()


document = scenario.document("openapi.json")
ids = {operation["operationId"] for _, _, operation in scenario.operations(document)}
modules = {}
for tag in pkgutil.iter_modules(tasklane_client.api.__path__):
    package = importlib.import_module(f"tasklane_client.api.{tag.name}")
    for module in pkgutil.iter_modules(package.__path__):
        modules[module.name] = importlib.import_module(f"{package.__name__}.{module.name}")
scenario.equal(set(modules), ids, "the operations that it generated")

client = Generated()
scenario.prove(client, "openapi-python-client")

# Typed from end to end.
claim = modules["task_claim"].sync(
    client=client.client,
    thread_id="openapi-python-client there",
    body=models.TaskClaimBody(owner="worker", lease_seconds=60),
)
assert isinstance(claim, models.ClaimOut) and claim.task.owner == "worker" and claim.lease.token, claim
problem = modules["task_get"].sync(client=client.client, thread_id="openapi-python-client there", task_id="nowhere")
assert isinstance(problem, ProblemOut) and problem.code == models.ProblemOutCode.UNKNOWN_TASK, problem
scenario.equal(problem.available_task_ids, ["task_cook"], "the ids that the problem names")
refused = modules["task_claim_one"].sync(
    client=client.client,
    thread_id="openapi-python-client there",
    task_id="task_cook",
    body=models.TaskClaimOneBody(owner="other"),
)
assert isinstance(refused, ProblemOut) and refused.holder == "worker" and refused.expires_at.tzinfo, refused

# The generator does not parse YAML, and hands over the bytes.
yaml = modules["openapi_yaml"].sync_detailed(client=client.client)
assert yaml.status_code == 200 and yaml.content.startswith(b"openapi: 3"), yaml
