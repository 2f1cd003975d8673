"""Every conformance case over HTTP. Adding a case is adding a file to `cases/`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from abs_gate.transport import Transport

from .agent import ScriptedAgentServer
from .harness import Variant, check, load_variants, play

VARIANTS = list(load_variants())


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedAgentServer]:
    with ScriptedAgentServer() as started:
        yield started


@pytest.fixture(scope="module")
def transport() -> Iterator[Transport]:
    with Transport() as opened:
        yield opened


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"{v.file}/{v.name}")
def test_case(variant: Variant, server: ScriptedAgentServer, transport: Transport):
    wrong = check(variant, play(variant, server, transport))
    assert not wrong, f"{variant.fields['rule']}\n" + "\n".join(wrong)


def test_every_rule_has_a_session_that_passes_and_one_that_does_not():
    outcomes: dict[str, set[bool]] = defaultdict(set)
    for variant in VARIANTS:
        outcomes[variant.file].add("error" not in variant.expected and variant.expected.get("outcome") == "passed")
    assert not [file for file, seen in outcomes.items() if seen != {True, False}]
