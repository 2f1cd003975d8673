"""The shipped schema of result.json, against the types it stands for."""

from __future__ import annotations

import json

from abs_gate.gate.load import result_schema
from abs_gate.gate.result import ResultDocument

from .typed_schema import schema_of


def expected() -> dict:
    return schema_of(ResultDocument, title="abs-gate result", identifier="urn:abs-gate:result:1")


def test_the_shipped_schema_is_that_of_the_types():
    assert json.loads(json.dumps(expected())) == result_schema()
