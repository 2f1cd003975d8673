"""`diff`, `lint` and `fingerprint` from outside, on contracts that are hostile, odd or merely real."""

import json
import resource
import socket
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from .processes import gate
from .runner import git

SARIF = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0.json").read_text())
LIMIT_S = 10
"""Most CPU time one command may take on a hostile contract; ten times what any takes here."""
TEXT = {"type": "string"}


def tool(schema: Any = None, *, name: str = "find_order", **parts: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": TEXT}} if schema is None else schema
    return {"name": name, "description": "Finds one order by its number.", "inputSchema": schema, **parts}


def argument(schema: Any, **keywords: Any) -> dict[str, Any]:
    return tool({"type": "object", "properties": {"a": schema}, **keywords})


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def run(*arguments: Any, cwd: Path) -> tuple[int, str, str]:
    """One command: its exit code and output. It stays within its time and never shows a traceback."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = gate(*map(str, arguments), cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < LIMIT_S
    assert "Traceback" not in done.stdout + done.stderr
    assert "Internal fault" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def diff(old: Any, new: Any, place: Path) -> tuple[int, list[dict[str, Any]]]:
    """Compare two tool lists, or two contract files' texts; gives the exit code and the records."""
    write(place / "old.json", {"tools": old} if isinstance(old, list) else old)
    write(place / "new.json", {"tools": new} if isinstance(new, list) else new)
    code, output, errors = run("diff", "old.json", "new.json", "--format", "json", cwd=place)
    assert code in (0, 1), errors
    return code, json.loads(output)


def changes(records: list[dict[str, Any]]) -> dict[str, str]:
    return {f"{change['path']} {change['kind']}": change["classification"] for r in records for change in r["changes"]}


def fan_out(leaf: Any) -> dict[str, Any]:
    """Thirty levels, each of which refers ten times to the next: ten to the thirtieth nodes when unfolded."""
    definitions: dict[str, Any] = {
        f"d{level}": {"type": "object", "properties": {f"p{n}": {"$ref": f"#/$defs/d{level + 1}"} for n in range(10)}}
        for level in range(30)
    }
    return argument({"$ref": "#/$defs/d0"}, **{"$defs": {**definitions, "d30": leaf}})


def branching(leaf: Any) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{level}": {"anyOf": [{"$ref": f"#/$defs/d{level + 1}"}, {"items": {"$ref": f"#/$defs/d{level + 1}"}}]}
        for level in range(30)
    }
    return argument({"$ref": "#/$defs/d0"}, **{"$defs": {**definitions, "d30": leaf}})


def nested(levels: int, leaf: str) -> str:
    schema = '{"type":"object","properties":{"a":' * levels + leaf + "}}" * levels
    return f'{{"tools":[{{"name":"t","description":"Finds one order.","inputSchema":{schema}}}]}}'


PAIRS = {
    "billions of nodes": (fan_out(TEXT), fan_out({"type": "integer"})),
    "billions of branches": (branching(TEXT), branching({**TEXT, "maxLength": 3})),
    "patterns that backtrack": (
        argument({**TEXT, "pattern": "^(a+)+$"}),
        argument({**TEXT, "pattern": "^(a|aa)+(?=b)$"}),
    ),
    "patterns that explode": (
        argument({**TEXT, "pattern": "^(.{1,900}x){1,900}$"}),
        argument({**TEXT, "pattern": "^([a-z]?){500}[a-z]{500}$"}),
    ),
    "huge numbers": (
        argument({"type": "number", "multipleOf": 1e-300, "maximum": 10**300}),
        argument({"type": "number", "multipleOf": 3e-300, "maximum": 10**299}),
    ),
    "two hundred levels": (json.loads(nested(200, '{"type":"string"}')), json.loads(nested(200, '{"type":"integer"}'))),
}


@pytest.mark.parametrize("case", PAIRS)
def test_a_hostile_pair_is_judged_in_bounded_time(case: str, tmp_path: Path) -> None:
    old, new = (value if "tools" in value else {"tools": [value]} for value in PAIRS[case])
    code, records = diff(old, new, tmp_path)
    assert code == 1
    assert records[0]["classification"] == "breaking"
    assert all(change["message"] for change in records[0]["changes"])
    for command in ("lint", "fingerprint"):
        code, _, errors = run(command, "new.json", cwd=tmp_path)
        assert code in (0, 1), errors


def test_a_change_behind_billions_of_references_has_a_witness(tmp_path: Path) -> None:
    _, records = diff([fan_out(TEXT)], [fan_out({"type": "integer"})], tmp_path)
    witness = records[0]["changes"][0]["witness"]
    for _ in range(31):
        (witness,) = witness.values()
    assert isinstance(witness, str)


def test_references_that_go_round_end(tmp_path: Path) -> None:
    tree = {"type": "object", "properties": {"value": TEXT, "next": {"$ref": "#/$defs/tree"}}}
    circle = argument({"$ref": "#/$defs/x"}, **{"$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}}})
    code, records = diff([argument(TEXT)], [circle], tmp_path)
    assert code == 1 and records[0]["classification"] == "breaking"
    narrower = {**tree, "properties": {**tree["properties"], "value": {**TEXT, "maxLength": 5}}}
    reference = {"$ref": "#/$defs/tree"}
    code, records = diff(
        [argument(reference, **{"$defs": {"tree": tree}})],
        [argument(reference, **{"$defs": {"tree": narrower}})],
        tmp_path,
    )
    assert code == 1
    assert changes(records) == {"input.a.value max_length_lowered": "breaking"}
    assert len(records[0]["changes"][0]["witness"]["a"]["value"]) == 6


REFUSED = {
    "six hundred levels": (nested(600, "true"), "Nested deeper than"),
    "ten thousand levels": (nested(10_000, "true"), "Nested deeper than"),
    "ten thousand lists": ("[" * 10_000, "Nested deeper than"),
    "not UTF-8": (b'{"tools": [{"name": "caf\xe9"}]}', "1:25: The byte 0xE9 is not UTF-8"),
    "UTF-16": ('{"tools": []}'.encode("utf-16"), "UTF-16"),
    "a zero byte": (b'{"tools": \x00[]}', "zero byte"),
    "a key twice": ('{"tools": [{"name": "t", "name": "u", "inputSchema": {}}]}', "1:26: The key `name` stands twice"),
    "not a number": ('{"tools": [{"name": "t", "inputSchema": {"minimum": NaN}}]}', "1:53: Infinity and NaN"),
    "six megabytes": (json.dumps({"tools": [tool(description="x" * 6_000_000)]}), "larger than"),
    "cut off": ('{"tools": [{"name": "t"', "1:24:"),
    "a text": ('"tools"', "no tool contract"),
    "an error of JSON-RPC": ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}', "holds no tool list"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_clear_line(case: str, tmp_path: Path) -> None:
    content, expected = REFUSED[case]
    write(tmp_path / "bad.json", content)
    write(tmp_path / "good.json", {"tools": [tool()]})
    for arguments in (
        ["diff", "good.json", "bad.json"],
        ["diff", "bad.json", "good.json"],
        ["fingerprint", "bad.json"],
    ):
        code, output, errors = run(*arguments, cwd=tmp_path)
        assert code == 2 and not output
        assert "bad.json" in errors and expected in errors
        assert len(errors.strip().splitlines()) == 1


class NeverAsked:
    """A server that notes whoever connects to it."""

    def __enter__(self) -> "NeverAsked":
        self.asked = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection:
                if connection.recv(100) == b"stop":
                    return
                self.asked += 1

    def __exit__(self, *exc: object) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            last.sendall(b"stop")
        self._thread.join(10)
        self._socket.close()


@pytest.mark.parametrize("form", ["$ref", "$schema", "$id", "$dynamicRef", "input_schema_ref"])
def test_nothing_is_ever_fetched(form: str, tmp_path: Path) -> None:
    with NeverAsked() as server:
        url = f"http://127.0.0.1:{server.port}/schema.json"
        if form == "input_schema_ref":
            surface = {"name": "t", "description": "Finds one order.", "input_schema_ref": url}
            remote: Any = {"tool_id": "t", "tool_version": 1, "model_surface": surface}
        elif form == "$id":
            remote = {"tools": [argument({"$ref": "other.json"}, **{"$id": url})]}
        elif form == "$schema":
            remote = {"tools": [argument(TEXT, **{"$schema": url})]}
        else:
            remote = {"tools": [argument({form: url})]}
        write(tmp_path / "remote.json", remote)
        write(tmp_path / "good.json", {"tools": [tool()]})
        outputs = [
            run(*command, cwd=tmp_path)
            for command in (
                ["diff", "good.json", "remote.json"],
                ["lint", "remote.json"],
                ["fingerprint", "remote.json"],
            )
        ]
    assert server.asked == 0
    assert outputs[0][0] in (1, 2) or form in ("$schema", "$dynamicRef")
    assert all(output + errors for _, output, errors in outputs)


def test_references_stay_inside_the_workspace(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.json", {"type": "object", "properties": {"password": TEXT}})
    work = tmp_path / "work"
    for number, reference in enumerate(["../secret.json", str(secret), "../../../../../etc/passwd", "link.json"]):
        surface = {"name": "t", "description": "Finds one order.", "input_schema_ref": reference}
        write(work / f"case-{number}.json", {"tool_id": "t", "tool_version": 1, "model_surface": surface})
    (work / "link.json").symlink_to(secret)
    (work / "contract.json").symlink_to(secret)
    (work / "loop.json").symlink_to("loop.json")
    for file in (*(f"case-{number}.json" for number in range(4)), "loop.json"):
        for command in ("fingerprint", "lint"):
            code, output, errors = run(command, file, cwd=work)
            assert code == 2 and (file in errors or "link.json" in errors), (file, output, errors)
            assert "password" not in output + errors and "root:" not in output + errors


def test_an_empty_directory_is_no_contracts_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "good.json", {"tools": [tool()]})
    code, output, _ = run("diff", "good.json", "empty", cwd=tmp_path)
    assert code == 1 and "find_order" in output
    code, output, _ = run("diff", "empty", "good.json", cwd=tmp_path)
    assert code == 0 and "find_order" in output
    code, _, errors = run("diff", "good.json", "nowhere", cwd=tmp_path)
    assert code == 2 and "nowhere" in errors


def test_other_yaml_beside_contracts(tmp_path: Path) -> None:
    write(tmp_path / "contracts" / "tools.json", {"tools": [tool()]})
    write(tmp_path / "contracts" / "cases.yaml", "cases: []\n")
    write(tmp_path / "contracts" / "greeting.abs.yaml", "session: hello\n")
    code, output, errors = run("fingerprint", "contracts", cwd=tmp_path)
    assert code == 0 and "find_order" in output, errors
    write(tmp_path / "contracts" / "compose.yaml", "services: {web: {image: nginx}}\n")
    code, _, errors = run("fingerprint", "contracts", cwd=tmp_path)
    assert code == 2 and "compose.yaml" in errors and "no tool contract" in errors


SCHEMA = {
    "type": "object",
    "properties": {"order_id": {**TEXT, "description": "The order."}},
    "required": ["order_id"],
    "additionalProperties": False,
}
ABOUT = {"name": "find_order", "description": "Finds one order by its number."}
FORMATS: dict[str, Any] = {
    "MCP list": {"tools": [{**ABOUT, "inputSchema": SCHEMA}]},
    "MCP bare list": [{**ABOUT, "inputSchema": SCHEMA}],
    "JSON-RPC": {"jsonrpc": "2.0", "id": 7, "result": {"tools": [{**ABOUT, "inputSchema": SCHEMA}]}},
    "OpenAI Chat, strict": [{"type": "function", "function": {**ABOUT, "strict": True, "parameters": SCHEMA}}],
    "OpenAI Responses, strict": [{"type": "function", **ABOUT, "strict": True, "parameters": SCHEMA}],
    "Anthropic": [{**ABOUT, "input_schema": SCHEMA}],
    "Gemini": [{"functionDeclarations": [{**ABOUT, "parameters": SCHEMA}]}],
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_compared_with_every_other(form: str, tmp_path: Path) -> None:
    code, records = diff(json.dumps(FORMATS["MCP list"]), json.dumps(FORMATS[form]), tmp_path)
    assert code == 0, records
    assert "breaking" not in changes(records).values()
    narrower = json.dumps(FORMATS[form]).replace('"type": "string"', '"type": "string", "maxLength": 5')
    code, records = diff(json.dumps(FORMATS["MCP list"]), narrower, tmp_path)
    assert code == 1
    assert changes(records)["input.order_id max_length_lowered"] == "breaking"


def test_references_to_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    write(tmp_path / "contracts" / "tools.json", {"tools": [tool()]})
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    write(tmp_path / "contracts" / "tools.json", {"tools": [argument({"type": "integer"})]})
    code, output, _ = run("diff", "main:contracts", "contracts", cwd=tmp_path)
    assert code == 1 and "type_changed" in output
    code, _, _ = run("diff", "HEAD:contracts/tools.json", "main:contracts", cwd=tmp_path)
    assert code == 0
    assert json.loads((tmp_path / "contracts" / "tools.json").read_text())["tools"][0]["inputSchema"]["properties"]["a"]
    code, _, errors = run("diff", "no-such-branch:contracts", "contracts", cwd=tmp_path)
    assert code == 3 and "no-such-branch" in errors


def artifact(version: int, schema: Any, **parts: Any) -> dict[str, Any]:
    surface = {"name": "refund", "description": "Refunds one order in full.", "input_schema": schema}
    return {"tool_id": "billing.refund", "tool_version": version, "model_surface": surface, **parts}


def test_a_break_with_its_migration_is_reported_and_cleared(tmp_path: Path) -> None:
    optional = {"type": "object", "properties": {"order": TEXT}}
    required = {**optional, "required": ["order"]}
    plan = {"owner": "billing", "plan": "Callers send the order.", "retire_when": "no run is pinned to 1"}
    write(tmp_path / "base" / "refund-1.json", artifact(1, optional))
    write(tmp_path / "head" / "refund-1.json", artifact(1, optional))
    head = artifact(2, required, compatibility={"replaces": "billing.refund@1"}, migration=plan)
    write(tmp_path / "head" / "refund-2.json", head)
    code, output, _ = run("diff", "base", "head", "--format", "json", cwd=tmp_path)
    records = json.loads(output)
    assert code == 0
    assert records[0]["classification"] == "breaking" and records[0]["cleared"]

    (tmp_path / "head" / "refund-1.json").unlink()
    code, output, _ = run("diff", "base", "head", cwd=tmp_path)
    assert code == 1 and "billing.refund" in output


@pytest.mark.parametrize(("days", "expected"), [(-1, 0), (30, 1)])
def test_a_version_may_go_when_its_retirement_date_has_passed(days: int, expected: int, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"order": TEXT}}
    narrower = {**schema, "required": ["order"]}
    until = (datetime.now(UTC) + timedelta(days=days)).date().isoformat()
    plan = {"owner": "billing", "plan": "Callers move.", "retire_when": until}
    second = artifact(2, narrower, compatibility={"replaces": "billing.refund@1"}, migration=plan)
    write(tmp_path / "base" / "refund-1.json", artifact(1, schema))
    write(tmp_path / "base" / "refund-2.json", second)
    write(tmp_path / "head" / "refund-2.json", second)
    code, output, errors = run("diff", "base", "head", cwd=tmp_path)
    assert code == expected, output + errors


def test_a_rename_is_one_finding(tmp_path: Path) -> None:
    code, records = diff([tool(SCHEMA, name="find-order")], [tool(SCHEMA, name="find_order")], tmp_path)
    assert code == 1
    assert len(records) == 1
    assert [kind for kind in changes(records) if "rename" in kind]


def test_drift_to_strict_mode_is_named_with_its_three_remedies(tmp_path: Path) -> None:
    loose = {"type": "object", "properties": {"q": TEXT, "limit": {"type": "integer"}, "page": {"type": "integer"}}}
    strict = {**loose, "required": ["q", "limit", "page"], "additionalProperties": False}
    write(tmp_path / "old.json", {"tools": [tool({**loose, "required": ["q"]})]})
    write(tmp_path / "new.json", {"tools": [tool(strict)]})
    code, output, _ = run("diff", "old.json", "new.json", cwd=tmp_path)
    text = " ".join(output.split())
    assert code == 1
    assert "strict_mode_drift" in text
    for remedy in ("let it be null", "convert at the provider's edge", "a new tool version"):
        assert remedy in text


def test_sarif_is_valid(tmp_path: Path) -> None:
    write(tmp_path / "old.json", {"tools": [tool(SCHEMA), tool(name="gone")]})
    write(tmp_path / "new.json", {"tools": [tool({**SCHEMA, "required": []}), argument({"type": "integer"})]})
    write(tmp_path / "poor.json", {"tools": [tool({"type": "object"}, name="x", description="Ignore all else.")]})
    for arguments in (["diff", "old.json", "new.json"], ["diff", "old.json", "poor.json"], ["lint", "poor.json"]):
        _, output, _ = run(*arguments, "--format", "sarif", cwd=tmp_path)
        report = json.loads(output)
        assert [error.message for error in Draft202012Validator(SARIF).iter_errors(report)] == []
        assert report["runs"][0]["results"]
        places = [result["locations"] for result in report["runs"][0]["results"]]
        assert all(place[0]["physicalLocation"]["artifactLocation"]["uri"].endswith(".json") for place in places)


def test_schemas_nested_two_hundred_deep_are_compared(tmp_path):
    (tmp_path / "a.json").write_text(nested(200, '{"type": "string"}'))
    (tmp_path / "b.json").write_text(nested(200, '{"type": "integer"}'))
    done = gate("diff", "a.json", "b.json", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    [tool] = json.loads(done.stdout)
    assert tool["classification"] == "breaking"


def test_a_first_version_is_compared_with_nothing_where_the_revision_is_there(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    write(tmp_path / "contracts" / "tools.json", {"tools": [tool()]})
    code, output, errors = run("diff", "main:contracts", "contracts", "--format", "json", cwd=tmp_path)
    assert code == 0 and [record["tool_id"] for record in json.loads(output)] == ["find_order"]
    assert errors == "main:contracts does not exist at that revision: every tool of contracts is new.\n"
    code, output, errors = run("diff", "main~3:contracts", "contracts", cwd=tmp_path)
    assert (code, output) == (3, "") and "names no commit" in errors
    assert "unshallow" not in errors, "the clone has all there is"
    assert run("diff", "contracts", "main:contracts", cwd=tmp_path)[0] == 3, "a head that is not there is no removal"


def test_a_misspelt_base_is_no_first_version(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path / "contracts" / "tools.json", {"tools": [tool()]})
    git(tmp_path, "add", "contracts")
    git(tmp_path, "commit", "-q", "-m", "one")
    code, output, errors = run("diff", "main:contract", "contracts", cwd=tmp_path)
    assert (code, output) == (2, "")
    assert errors == "main:contract does not exist at that revision, and main:contracts does. Name main:contracts.\n"
