"""Dependencies point one way, and the core does no IO."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_layers_are_kept():
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(ROOT / ".importlinter"), no_cache=True) == 0


@pytest.mark.parametrize("words", ["/work/", "/tmp/abs", "../shared"])
def test_the_project_speaks_of_itself_alone(words):
    found = subprocess.run(
        ["git", "grep", "-nF", words, "--", ".", ":!tests/meta/test_layers.py", ":!tests/**/data/**"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
