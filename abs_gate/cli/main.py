"""The `abs-gate` command."""


def main() -> None:
    """Run the command line."""
