from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import validator_for

from abs_gate.contracts.schemas import Engine, Proof, Relation, SchemaDocument

CASES = json.loads((Path(__file__).parents[1] / "data" / "microcases.json").read_text(encoding="utf-8"))
REVERSED = {"narrower": "wider", "wider": "narrower"}


def accepts(schema: Any, instance: Any) -> bool:
    return bool(validator_for(schema)(schema).is_valid(instance))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_relation(case: dict[str, Any]) -> None:
    old, new = SchemaDocument(case["old"]), SchemaDocument(case["new"])
    comparison = Engine().compare(old.view(), new.view())
    assert comparison.relation == case["rel"]
    for inclusion, inner, outer in (
        (comparison.old_in_new, case["old"], case["new"]),
        (comparison.new_in_old, case["new"], case["old"]),
    ):
        assert inclusion.proof is (Proof.PROVED if inclusion.included else Proof.WITNESS)
        assert inclusion.has_witness is not inclusion.included
        if inclusion.has_witness:
            assert accepts(inner, inclusion.witness)
            assert not accepts(outer, inclusion.witness)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_relation_the_other_way_round(case: dict[str, Any]) -> None:
    old, new = SchemaDocument(case["old"]), SchemaDocument(case["new"])
    comparison = Engine().compare(new.view(), old.view())
    assert comparison.relation == Relation(REVERSED.get(case["rel"], case["rel"]))
