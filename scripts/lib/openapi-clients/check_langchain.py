"""LangChain's conversion of OpenAPI into the functions of a model, and its way to call them."""

import json
import warnings

from langchain_classic.chains.openai_functions.openapi import openapi_spec_to_openai_fn
from langchain_community.utilities.openapi import OpenAPISpec

import scenario
from scenario import Refusal

# It is deprecated, and still what people have.
warnings.filterwarnings("ignore", message=".*openapi_spec_to_openai_fn.*")


class Functions:
    def __init__(self):
        spec = OpenAPISpec.from_text(json.dumps(scenario.tools_document()))
        self.functions, self.call_api = openapi_spec_to_openai_fn(spec)

    def call(self, operation, at, query, body):
        arguments = {}
        if at:
            arguments["path_params"] = dict(at)
        if query:
            # As a model writes it, since what calls them writes Python's True.
            arguments["params"] = {name: json.dumps(value) if value is True else value for name, value in query.items()}
        if body is not None:
            arguments["json"] = body
        answer = self.call_api(operation, arguments)
        if answer.status_code >= 400:
            raise Refusal(answer.status_code, answer.json())
        return answer.json() if answer.content else None


client = Functions()
parameters = {function["name"]: function["parameters"]["properties"] for function in client.functions}
scenario.equal(set(parameters), scenario.OPERATIONS, "the functions")
for function in client.functions:
    assert function["description"], f"{function['name']} has no description"
    for place in ("path_params", "params"):
        for name, schema in parameters[function["name"]].get(place, {"properties": {}})["properties"].items():
            assert schema.get("description"), f"{function['name']}: {name} has no description"
bodies = {name: places["json"]["properties"] for name, places in parameters.items() if "json" in places}
scenario.check_body_schemas(bodies)
scenario.equal(
    parameters["task_check"]["params"]["properties"]["status"]["enum"], scenario.STATUSES, "the statuses to ask for"
)
scenario.prove(client, "langchain")
