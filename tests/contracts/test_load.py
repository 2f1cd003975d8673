"""Contract files of every shape become one model; what is wrong with one is said with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from abs_gate.contracts.load import is_contract_shape, load_contracts
from abs_gate.contracts.model import ContractSet, Effect, SourceFormat
from abs_gate.contracts.reading import KnownTools
from abs_gate.errors import ConfigurationError

from .workspaces import ARTIFACT, OBJECT, MemoryWorkspace, artifact, diff, faults, load, load_files, mcp, one

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TEXT = "Finds one order by its number."

MCP = {"name": "find", "description": TEXT, "inputSchema": SCHEMA}
FUNCTION = {"name": "find", "description": TEXT, "parameters": SCHEMA}
CHAT = {"type": "function", "function": FUNCTION}
CLAUDE = {"name": "find", "description": TEXT, "input_schema": SCHEMA}
WHOLE_SCHEMA = {"name": "find", "description": TEXT, "parametersJsonSchema": SCHEMA}
SHAPES: dict[str, Any] = {
    "mcp list": [MCP],
    "mcp tools": {"tools": [MCP]},
    "mcp answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
    "mcp one": MCP,
    "openai chat": [CHAT],
    "openai responses": [{"type": "function", **FUNCTION}],
    "openai request": {"model": "m", "messages": [], "tools": [CHAT]},
    "openai functions": {"functions": [FUNCTION]},
    "anthropic": [CLAUDE],
    "anthropic custom": [{"type": "custom", **CLAUDE}],
    "gemini": {"functionDeclarations": [FUNCTION]},
    "gemini tools": {"tools": [{"function_declarations": [FUNCTION]}]},
    "gemini json schema": {"tools": [{"functionDeclarations": [WHOLE_SCHEMA]}]},
    "native": {"tool_id": "find", "model_surface": CLAUDE},
}
SOURCES = {"mcp": "mcp", "ope": "openai", "ant": "anthropic", "gem": "gemini", "nat": "native"}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_tool(shape: str) -> None:
    assert is_contract_shape(SHAPES[shape])
    tool = one(SHAPES[shape])
    assert (tool.tool_id, tool.name, tool.description, tool.input_schema) == ("find", "find", TEXT, SCHEMA)
    assert (
        tool.source == {"mcp": "mcp", "ope": "openai", "ant": "anthropic", "gem": "gemini", "nat": "native"}[shape[:3]]
    )
    assert tool.fingerprint == one(SHAPES["mcp list"]).fingerprint


def test_gemini_capital_types_are_json_schema_types() -> None:
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    shape = {"functionDeclarations": [{"name": "find", "parameters": schema}]}
    assert one(shape).input_schema == {"type": "object", "properties": {"a": {"type": "string"}}}


OTHER_DOCUMENTS: list[Any] = [
    *(None, 1, "text", [], {}, [1, "a"]),
    {"session": "Refund", "behaviors": []},
    {"$schema": "x", "type": "object"},
    {"type": "object", "properties": {"name": {}}},
    {"type": "string"},
    {"version": 1, "agent": {"url": "x"}},
    {"cases": [{"name": "a"}]},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}},
    {"name": "just a name"},
    [{"name": "Ann", "description": "A row."}],
    {"name": "demo", "type": "module", "description": "A package."},
]


@pytest.mark.parametrize("value", OTHER_DOCUMENTS, ids=str)
def test_other_documents_are_told_apart(value: Any) -> None:
    assert not is_contract_shape(value)


def test_an_empty_tool_list_is_a_contract() -> None:
    assert is_contract_shape({"tools": []}) and load({"tools": []}).tools == ()


def test_hosted_tools_are_kept_without_a_schema() -> None:
    tools = load([{"type": "web_search"}, {"type": "bash_20250124", "name": "bash"}]).tools
    assert [(tool.name, tool.source, tool.input_schema) for tool in tools] == [
        ("web_search", SourceFormat.OPENAI, None),
        ("bash", SourceFormat.ANTHROPIC, None),
    ]
    assert load([{"type": "web_search"}]).findings == ()


def test_strict_and_annotations_and_output_are_read() -> None:
    assert one([{"type": "function", "name": "f", "strict": True, "parameters": SCHEMA}]).strict
    tool = one(mcp(annotations={"readOnlyHint": True}, outputSchema=OBJECT, execution={"taskSupport": "optional"}))
    assert tool.annotations == {"readOnlyHint": True} and tool.output_schema == OBJECT
    assert tool.extra == {"execution": {"taskSupport": "optional"}}


def test_server_instructions_are_read() -> None:
    assert load({"tools": [mcp()], "instructions": "Look first."}).instructions == "Look first."
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [mcp()], "instructions": "Look first."}}
    assert load(answer).instructions == "Look first."


def test_the_native_artifact_is_read_whole() -> None:
    tool = one(ARTIFACT)
    assert (tool.tool_id, tool.version, tool.name) == ("billing.issue_refund", 4, "issue_refund")
    assert tool.policy.required_scopes == ("refunds.write",)
    assert tool.policy.effect is Effect.IRREVERSIBLE_EXTERNAL_WRITE
    assert (tool.policy.approval, tool.policy.idempotency_key) == ("always", "action_id")
    assert [(error.code, error.retryable) for error in tool.errors] == [
        ("ORDER_NOT_FOUND", False),
        ("PROVIDER_TIMEOUT", True),
    ]
    assert tool.errors[1].retry_after_source == "response"
    assert tool.runtime["deadline_ms"] == 10_000 and tool.compatibility["replaces"] == "billing.issue_refund@3"


@pytest.mark.parametrize(
    "policy",
    [
        {"required_scope": "b a"},
        {"required_scope": ["a", "b"]},
        {"required_scopes": ["b", "a"]},
        {"scopes": ["a", "b", "a"]},
    ],
)
def test_scopes_may_be_spelled_in_several_ways(policy: dict[str, Any]) -> None:
    tool = one({"tool_id": "x", "model_surface": {"name": "x", "input_schema": OBJECT}, "policy": policy})
    assert tool.policy.required_scopes == ("a", "b")


def test_errors_may_be_a_mapping_or_bare_codes() -> None:
    for errors in ({"A": {"retryable": True}, "B": None}, [{"code": "A", "retryable": True}, "B"]):
        tool = one(artifact(errors=errors))
        assert [(error.code, error.retryable) for error in tool.errors] == [("A", True), ("B", None)]


def test_several_documents_and_versions_live_side_by_side() -> None:
    text = "\n---\n".join(json.dumps(artifact(tool_version=number)) for number in (3, 4))
    assert [tool.version for tool in load_files({"refund.yaml": text}).tools] == [3, 4]


YAML = """\
tool_id: billing.issue_refund
tool_version: 4
model_surface:
  name: issue_refund
  description: Issue one refund.
  input_schema_ref: schemas/input.yaml
  output_schema_ref: "schemas/all.json#/output"
policy:
  approval: always
errors:
  - code: A
  - code: B
    retryable: true
"""
INPUT_ONLY = YAML.replace('  output_schema_ref: "schemas/all.json#/output"\n', "")
FILES = {
    "contracts/refund.yaml": YAML,
    "contracts/schemas/input.yaml": "type: object\nproperties:\n  reason:\n    $ref: parts/reason.json\n",
    "contracts/schemas/parts/reason.json": '{"type": "string",\n "minLength": 3}',
    "contracts/schemas/all.json": '{"output": {"type": "object", "properties": {"id": {"$ref": "#/id"}}}, '
    '"id": {"type": "string"}}',
}


def test_schema_files_are_followed_from_the_artifact() -> None:
    (tool,) = load_files(FILES, "contracts").tools
    assert tool.input_schema == {"type": "object", "properties": {"reason": {"type": "string", "minLength": 3}}}
    assert tool.output_schema == {"type": "object", "properties": {"id": {"type": "string"}}}


def test_places_lead_to_file_and_line() -> None:
    (tool,) = load_files(FILES, "contracts").tools
    where = {
        ("policy", "approval"): "contracts/refund.yaml:9",
        ("errors", "B", "retryable"): "contracts/refund.yaml:13",
        ("discovery", "description"): "contracts/refund.yaml:5",
        ("input", "properties", "reason"): "contracts/schemas/parts/reason.json:1",
        ("input", "properties", "reason", "minLength"): "contracts/schemas/parts/reason.json:2",
        ("output", "properties", "id", "nothing here"): "contracts/schemas/all.json:1",
        ("runtime", "deadline_ms"): "contracts/refund.yaml:1",
    }
    found = {part: f"{tool.places[part].file}:{tool.places[part].line}" for part in where}
    assert found == where


def test_a_recursive_schema_file_becomes_a_local_reference() -> None:
    files = {
        "c/a.yaml": INPUT_ONLY.replace("schemas/input.yaml", "node.json"),
        "c/node.json": '{"type": "object", "properties": {"next": {"$ref": "node.json"}}}',
    }
    (tool,) = load_files(files, "c").tools
    assert tool.input_schema["properties"]["next"] == {"$ref": "#"}
    files["c/node.json"] = '{"type": "object", "properties": {"tree": {"$ref": "tree.json"}}}'
    files["c/tree.json"] = (
        '{"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "tree.json"}}}}'
    )
    (tool,) = load_files(files, "c").tools
    assert tool.input_schema["properties"]["tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/tree"}
    assert tool.input_schema["$defs"]["tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/tree"}


def test_data_that_looks_like_a_reference_is_left_alone() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [{"$ref": "x.json"}]}}, "default": {"$ref": "y.json"}}
    assert one(artifact(model_surface={"input_schema": schema})).input_schema == schema


def test_references_that_multiply_are_refused() -> None:
    files = {"c/a.yaml": INPUT_ONLY.replace("schemas/input.yaml", "f0.json")}
    for index in range(40):
        part = {"$ref": f"f{index + 1}.json"}
        files[f"c/f{index}.json"] = json.dumps({"properties": {"a": part, "b": part, "c": part}})
    files["c/f40.json"] = '{"type": "string"}'
    (fault,) = [text for text in faults(files, "c/a.yaml") if "unfolds" in text]
    assert "more than 100000 values" in fault


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("../../outside.json", "leads out of the workspace"),
        ("https://example.com/s.json", "nothing is fetched"),
        ("/etc/passwd", "leads out of the workspace"),
        ("missing.json", "There is no schema file `c/missing.json`"),
        ("broken.json", "broken.json"),
        ("list.json", "has no schema at"),
        ("ok.json#/nowhere", "has nothing at `#/nowhere`"),
        ("ok.json#anchor", "only JSON pointers are followed"),
        ("tool.json", "`c/tool.json` holds a tool, no schema"),
        ("", "`model_surface.input_schema_ref` names no file"),
    ],
)
def test_schema_references_that_fail_are_named(reference: str, sentence: str) -> None:
    document = artifact(model_surface={"input_schema": None, "input_schema_ref": reference})
    files = {
        "c/a.json": json.dumps(document, indent=1),
        "c/broken.json": "{",
        "c/list.json": "[1]",
        "c/ok.json": '{"type": "object"}',
        "c/tool.json": json.dumps(ARTIFACT),
    }
    found = faults(files, "c/a.json")
    assert len(found) == 1 and sentence in found[0]
    assert found[0].startswith("c/")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_surface": {"name": None}}, "no `model_surface.name`"),
        ({"tool_id": 7}, "`tool_id` is a number, not a text"),
        ({"tool_version": [1]}, "`tool_version` is neither a number nor a text"),
        ({"errors": "none"}, "`errors` is no list"),
        ({"errors": [{"retryable": True}]}, "An error has no `code`"),
        ({"errors": [{"code": "A"}, {"code": "A"}]}, "declared twice"),
        ({"errors": [{"code": "A", "retryable": "yes"}]}, "neither true nor false"),
        ({"policy": {"effect": "irreversible_write"}}, "is no effect. Did you mean"),
        ({"policy": {"required_scope": 3}}, "neither a scope nor a list of scopes"),
        ({"runtime": [1]}, "`runtime` is a list, not a mapping"),
        ({"cases": "later"}, "`cases` is no list"),
        ({"model_surface": {"input_schema_ref": "x.json"}}, "are both given"),
    ],
)
def test_what_is_wrong_with_an_artifact_is_named(change: dict[str, Any], sentence: str) -> None:
    found = faults({"c.json": json.dumps(artifact(**change), indent=1)})
    assert len(found) == 1 and sentence in found[0], found
    assert found[0].startswith("c.json:")


def test_all_faults_of_all_files_come_at_once() -> None:
    files = {
        "c/a.json": json.dumps([{"name": 1, "inputSchema": OBJECT}, {"what": "ever"}, mcp()]),
        "c/b.json": "{",
        "c/c.yaml": "just: a mapping\n",
    }
    found = faults(files, "c", "d")
    assert len(found) == 5
    assert any("c/a.json:1" in text and "no tool in any known shape" in text for text in found)
    assert any("There is no contract file or directory `d`" in text for text in found)


def test_companions_of_a_contract_directory_are_passed_over() -> None:
    files = {
        **FILES,
        "contracts/refund.cases.yaml": "cases: [{name: a}]\n",
        "contracts/reviews.yaml": "acknowledgements: []\n",
        "contracts/refund.abs.yaml": "session: Refund\n",
        "contracts/empty.yaml": "# nothing yet\n",
        "contracts/README.md": "text",
    }
    assert len(load_files(files, "contracts").tools) == 1
    (fault,) = faults({"contracts/reviews.txt": "a: 1"}, "contracts/reviews.txt")
    assert "no tool contract" in fault


def test_an_unused_schema_is_named_and_does_not_fail() -> None:
    files = {"c/a.json": json.dumps([mcp()]), "c/old.json": '{"type": "object", "properties": {}}'}
    (finding,) = load_files(files, "c").findings
    assert finding.rule == "schema-unused" and finding.location and finding.location.file == "c/old.json"


def test_a_null_schema_is_a_finding_with_its_place() -> None:
    contracts = load_files({"c.json": '[{"name": "a", "description": "b c",\n "inputSchema": null}]'})
    (finding,) = contracts.findings
    assert str(finding.location) == "c.json:2:2" and finding.rule == "schema-missing"
    assert contracts.tools[0].input_schema is None


def test_unknown_keys_of_an_artifact_are_named_with_the_nearest() -> None:
    contracts = load(artifact(polcy={"a": 1}, **{"x-team": "billing"}))
    (finding,) = contracts.findings
    assert "`polcy`" in finding.message and 'Did you mean "policy"?' in finding.message


def test_a_listed_tool_without_a_schema_is_a_finding() -> None:
    contracts = load({"tools": [{"name": "find", "description": TEXT}]})
    assert [finding.rule for finding in contracts.findings] == ["schema-missing"]


def test_a_reference_to_nowhere_in_a_schema_is_no_traceback() -> None:
    tools = [mcp(schema={"type": "object", "properties": {"a": {"$ref": f"#/$defs/{name}"}}}) for name in "ab"]
    (entry,) = diff(*tools)
    assert entry.classification == "breaking" or entry.classification == "behavior_sensitive"


def test_json_rpc_errors_are_told_apart() -> None:
    (fault,) = faults({"c.json": '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}'})
    assert "holds no tool list" in fault


def test_deep_nesting_is_no_traceback() -> None:
    schema: Any = {"type": "string"}
    for _ in range(180):
        schema = {"type": "object", "properties": {"a": schema}}
    try:
        contracts = load([mcp(schema=schema)])
    except ConfigurationError as error:
        assert error.findings
    else:
        assert contracts.tools[0].fingerprint


def test_loading_reads_only_through_the_workspace() -> None:
    with pytest.raises(ConfigurationError, match="There is no contract file or directory `contracts`"):
        load_contracts(MemoryWorkspace({}), ["contracts"])


def both(base: Mapping[str, str], head: Mapping[str, str]) -> tuple[ContractSet, ContractSet]:
    known: KnownTools = {}
    old, new = (load_contracts(MemoryWorkspace(files), list(files)[:1], known=known) for files in (base, head))
    return old, new


def test_what_two_loads_write_alike_is_one_tool_with_two_places() -> None:
    tools = [mcp("a"), mcp("b", {"type": "object", "properties": {"x": {"type": "string"}}}, title="B")]
    old, new = both({"old.json": json.dumps(tools)}, {"new.json": json.dumps({"tools": tools[::-1]}, indent=1)})
    assert old.tools[0].fingerprint == new.tools[1].fingerprint == one(tools[0]).fingerprint
    assert old.tools[1].input_schema is new.tools[0].input_schema
    assert str(old.tools[1].places["input", "properties", "x"]).startswith("old.json:1:")
    assert str(new.tools[0].places["input", "properties", "x"]) == "new.json:9:6"
    assert str(new.tools[1].location) == "new.json:16:3"


def test_one_is_not_true_in_two_loads_either() -> None:
    first, second = (mcp(schema={"type": "object", "additionalProperties": value}) for value in (True, 1))
    old, new = both({"old.json": json.dumps([first])}, {"new.json": json.dumps([second])})
    assert old.tools[0].fingerprint != new.tools[0].fingerprint


def test_what_is_odd_is_said_of_both_loads() -> None:
    text = json.dumps([{"name": "a", "description": "b c", "inputSchema": None}])
    old, new = both({"old.json": text}, {"new.json": text})
    for contracts, file in ((old, "old.json"), (new, "new.json")):
        (finding,) = contracts.findings
        assert finding.rule == "schema-missing" and finding.location and finding.location.file == file


def test_an_artifact_is_read_again_since_its_schema_may_stand_elsewhere() -> None:
    surface = {"name": "find", "description": "Finds one.", "input_schema_ref": "input.json"}
    text = json.dumps({"tool_id": "find", "model_surface": surface})
    string, number = (json.dumps({"type": "object", "properties": {"a": {"type": t}}}) for t in ("string", "number"))
    old, new = both({"a.json": text, "input.json": string}, {"a.json": text, "input.json": number})
    assert old.tools[0].fingerprint != new.tools[0].fingerprint
