"""Every configuration that the documentation shows is a valid one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from abs_gate.settings.load import load_settings
from abs_gate.vcs.worktree import WorkTree

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = [
    (page, text)
    for page in ("statistics.md", "scale.md", "canary.md")
    for text in re.findall(r"^```yaml\n(version: 1\n.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
]


@pytest.mark.parametrize(("page", "text"), BLOCKS)
def test_configuration_is_valid(tmp_path, page, text):
    (tmp_path / "abs-gate.yaml").write_text(text)
    settings = load_settings(WorkTree(tmp_path), None)
    assert settings.file == "abs-gate.yaml"
    assert settings.warnings == ()


def test_there_are_some():
    assert {page for page, _ in BLOCKS} == {"statistics.md", "scale.md", "canary.md"}


def test_links_between_pages_lead_somewhere():
    for page in ("statistics.md", "scale.md", "canary.md"):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (DOCS / page).read_text()):
            assert (DOCS / target).exists(), (page, target)
