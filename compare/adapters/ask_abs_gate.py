"""abs-gate: what `abs-gate diff --format json` computes, without the start of a process."""

import json
import tempfile
from pathlib import Path

from answering import serve

from abs_gate.app.contracts import compare_places
from abs_gate.contracts.records import to_record
from abs_gate.vcs.worktree import WorkTree

WORDS = {"unchanged": "none", "behavior_sensitive": "review"}
ORDER = ("none", "compatible", "review", "breaking", "safety_breaking")


def answer(side, old_text, new_text):
    (place / "old.json").write_text(old_text)
    (place / "new.json").write_text(new_text)
    tree = WorkTree(place)
    records = [to_record(diff) for diff in compare_places((tree, "old.json"), (tree, "new.json"), today="2026-01-01")]
    json.dumps(records)
    found = [WORDS.get(record["classification"], record["classification"]) for record in records]
    return [max(found, key=ORDER.index, default="none")]


with tempfile.TemporaryDirectory() as directory:
    place = Path(directory)
    serve(answer)
