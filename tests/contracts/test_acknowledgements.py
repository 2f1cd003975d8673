"""Reviews on record hold for exactly the change that was reviewed."""

from __future__ import annotations

import pytest

from abs_gate.contracts.acknowledgements import find_acknowledgement, parse_acknowledgements
from abs_gate.contracts.model import ToolDiff
from abs_gate.errors import ConfigurationError

from .workspaces import diff, mcp

OLD, NEW = mcp(description="Finds one order."), mcp(description="Finds any order.")


def entry() -> ToolDiff:
    (found,) = diff(OLD, NEW)
    return found


def text(change: ToolDiff, **more: str) -> str:
    fields = {"tool": change.tool_id, "from": change.baseline_fingerprint, "to": change.candidate_fingerprint}
    lines = [f"{key}: {value}" for key, value in {**fields, "by": "'@ann'", "reason": "read it", **more}.items()]
    return "acknowledgements:\n  - " + "\n    ".join(lines) + "\n"


def test_a_review_covers_exactly_that_change() -> None:
    reviews = parse_acknowledgements(text(entry()), "reviews.yaml")
    found = find_acknowledgement(entry(), reviews)
    assert found and (found.by, found.reason) == ("@ann", "read it") and str(found.location) == "reviews.yaml:2:5"
    (pushed,) = diff(OLD, mcp(description="Finds every order."))
    assert find_acknowledgement(pushed, reviews) is None


def test_added_and_removed_tools_have_one_side() -> None:
    (added,) = diff({"tools": []}, OLD)
    assert find_acknowledgement(added, parse_acknowledgements(text(added, **{"from": "null"}), "r.yaml"))
    (removed,) = diff(OLD, {"tools": []})
    assert find_acknowledgement(removed, parse_acknowledgements(text(removed, to="null"), "r.yaml"))


def test_another_tool_is_not_covered() -> None:
    reviews = parse_acknowledgements(text(entry(), tool="other"), "r.yaml")
    assert find_acknowledgement(entry(), reviews) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"by": "''"}, "r.yaml:5:9: An acknowledgement has no `by`"),
        ({"reason": "3"}, "An acknowledgement has no `reason`"),
        ({"from": "sha256:abc"}, "`from` is no fingerprint"),
        ({"becuase": "x"}, "`becuase` is no key of an acknowledgement"),
        ({"from": "null", "to": "null"}, "names neither `from` nor `to`"),
    ],
)
def test_faults_are_named_with_their_place(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_acknowledgements(text(entry(), **change), "r.yaml")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("file", ["reviews: []\n", "- a\n", "acknowledgements: soon\n", "acknowledgements: [3]\n"])
def test_another_file_is_refused(file: str) -> None:
    with pytest.raises(ConfigurationError):
        parse_acknowledgements(file, "r.yaml")


def test_an_empty_list_is_fine() -> None:
    assert parse_acknowledgements("acknowledgements: []\n", "r.yaml") == ()
