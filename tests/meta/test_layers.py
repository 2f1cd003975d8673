"""Dependencies point one way, and the core does no IO."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_layers_are_kept():
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(ROOT / ".importlinter"), no_cache=True) == 0
