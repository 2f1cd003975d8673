"""Every report of every sample, whole. `python -m tests.golden.regenerate` writes the expectations anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .golden_cases import GOLDEN, golden_cases

CASES = golden_cases()
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", CASES)
def test_report_is_as_expected(name: str) -> None:
    expected = (GOLDEN / name).read_text(encoding="utf-8")
    assert CASES[name]() == expected


def test_no_golden_file_is_left_over() -> None:
    kept = {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file() and path.suffix != ".py"}
    assert {name for name in kept if "__pycache__" not in name} == set(CASES)


@pytest.mark.parametrize("seed", ["1", "4242"])
def test_reports_are_equal_under_another_locale_hash_seed_and_zone(seed: str) -> None:
    script = (
        "import hashlib, locale, sys\n"
        "locale.setlocale(locale.LC_ALL, '')\n"
        "from tests.reports.golden_cases import golden_cases\n"
        "for name, render in golden_cases().items():\n"
        "    print(name, hashlib.sha256(render().encode()).hexdigest())\n"
    )
    environment = os.environ | {
        "PYTHONHASHSEED": seed,
        "LC_ALL": "C.UTF-8" if seed == "1" else "C",
        "LANG": "tr_TR.UTF-8",
        "TZ": "Pacific/Auckland",
        "PYTHONUTF8": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    import hashlib

    seen = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert seen == {name: hashlib.sha256(render().encode()).hexdigest() for name, render in CASES.items()}
