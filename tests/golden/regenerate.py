"""Write every golden file anew: `python -m tests.golden.regenerate`. Look at the difference before committing it."""

from __future__ import annotations

import shutil

from tests.reports.golden_cases import GOLDEN, golden_cases


def main() -> None:
    for folder in GOLDEN.iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            shutil.rmtree(folder)
    cases = golden_cases()
    for name, render in cases.items():
        path = GOLDEN / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(render(), encoding="utf-8", newline="\n")
    print(f"{len(cases)} golden files written")


if __name__ == "__main__":
    main()
