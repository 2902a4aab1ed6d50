"""Reads each export of the tools with its vendor's own Python types, offline.

usage: tool_exports.py FOLDER, which holds <format>.json for every format
"""

import copy
import json
import pathlib
import sys

import jsonschema
import pydantic
from agents.strict_schema import ensure_strict_json_schema
from anthropic import transform_schema
from anthropic.types import ToolParam
from botocore import loaders, model, validate
from google.genai import types as gemini
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam

folder = pathlib.Path(sys.argv[1])


def tools(form):
    document = json.loads((folder / f"{form}.json").read_text())
    assert list(document) == ["tools"], f"{form}: the document is not {{tools}}"
    return document["tools"]


def only_known_keys(value, typed):
    """A TypedDict takes unknown keys silently; a request with one is refused."""
    unknown = set(value) - set(typed.__annotations__)
    assert not unknown, f"{typed.__name__} does not know {unknown}"


def check_openai():
    chat = pydantic.TypeAdapter(ChatCompletionFunctionToolParam)
    for form in ("openai", "openai-strict"):
        for tool in tools(form):
            chat.validate_python(tool, strict=True)
            only_known_keys(tool, ChatCompletionFunctionToolParam)
            jsonschema.Draft202012Validator.check_schema(tool["function"]["parameters"])
    responses = pydantic.TypeAdapter(FunctionToolParam)
    for tool in tools("openai-responses"):
        responses.validate_python(tool, strict=True)
        only_known_keys(tool, FunctionToolParam)
    # Already strict: the agents' converter must find nothing to change.
    for tool in tools("openai-strict"):
        schema = tool["function"]["parameters"]
        assert ensure_strict_json_schema(copy.deepcopy(schema)) == schema, f"{tool['function']['name']} is not strict"
    # What comes over MCP is converted by the agents' library; it must not fail on it.
    for tool in tools("mcp"):
        ensure_strict_json_schema(copy.deepcopy(tool["inputSchema"]))


def check_anthropic():
    adapter = pydantic.TypeAdapter(ToolParam)
    for tool in tools("anthropic"):
        adapter.validate_python(tool)
        only_known_keys(tool, ToolParam)
        transform_schema(copy.deepcopy(tool["input_schema"]))


def check_gemini():
    for group in tools("gemini"):
        read = gemini.Tool.model_validate(group, extra="forbid")
        assert len(read.function_declarations) == len(group["functionDeclarations"])


def check_bedrock():
    service = model.ServiceModel(loaders.Loader().load_service_model("bedrock-runtime", "service-2"))
    shape = service.operation_model("Converse").input_shape
    call = {"modelId": "any", "toolConfig": {"tools": tools("bedrock")}}
    report = validate.ParamValidator().validate(call, shape)
    assert not report.has_errors(), report.generate_report()


def check_mcp():
    for tool in tools("mcp"):
        for key in ("inputSchema", "outputSchema"):
            jsonschema.Draft202012Validator.check_schema(tool[key])
            assert tool[key]["type"] == "object" and tool[key]["additionalProperties"] is False


for check in (check_openai, check_anthropic, check_gemini, check_bedrock, check_mcp):
    check()
    print(f"ok: {check.__name__}")
