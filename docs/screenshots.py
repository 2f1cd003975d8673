"""Pictures for the README: the pull-request comment and the HTML report of a result, taken with Chromium.

    python docs/screenshots.py RESULT.json [DIRECTORY]

writes comment.png and report.png. Needs markdown-it-py, and `chromium` on the PATH (or named by CHROMIUM).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

from abs_gate.gate.load import load_result
from abs_gate.reports import REPORTERS, ReportOptions
from abs_gate.reports.comment import render_comment

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1.5",
]

COMMENT_PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><style>
body {{ margin: 0; padding: 24px; background: #ffffff; color: #1f2328;
  font: 14px/1.5 system-ui, "Noto Sans", "DejaVu Sans", "Noto Color Emoji", sans-serif; }}
.comment {{ max-width: 900px; border: 1px solid #d1d9e0; border-radius: 6px; }}
.head {{ background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; padding: 8px 16px;
  color: #59636e; }}
.body {{ padding: 16px; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.5em; border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; margin: 0 0 16px; }}
h3 {{ font-size: 1.25em; margin: 24px 0 16px; }} h4 {{ font-size: 1em; margin: 24px 0 16px; }}
p, ul, pre, table, details {{ margin: 0 0 16px; }} ul {{ padding-left: 2em; }}
code {{ font: 85% ui-monospace, Menlo, "DejaVu Sans Mono", monospace; background: #818b981f; border-radius: 6px;
  padding: .2em .4em; }}
pre {{ background: #f6f8fa; border-radius: 6px; padding: 16px; overflow: auto; }}
pre code {{ background: none; padding: 0; white-space: pre-wrap; }}
table {{ border-collapse: collapse; display: block;
  width: max-content; max-width: 100%; overflow: auto; }}
th, td {{ overflow-wrap: normal; border: 1px solid #d1d9e0;
  padding: 6px 13px; text-align: left; }}
tr:nth-child(2n) {{ background: #f6f8fa; }} sub {{ color: #59636e; font-size: 12px; }}
</style><div class="comment"><div class="head"><b>github-actions</b> commented</div>
<div class="body">{body}</div></div></html>"""


def main(arguments: list[str]) -> int:
    """Render the result named by the first argument into the directory named by the second."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write(__doc__ or "")
        return 2
    document = load_result(Path(arguments[0]).read_text(encoding="utf-8"), name=arguments[0])
    directory = Path(arguments[1] if len(arguments) == 2 else "docs")
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    comment = COMMENT_PAGE.format(body=markdown.render(render_comment(document)))
    take(comment, directory / "comment.png", width=960)
    take(REPORTERS["html"].render(document, ReportOptions()), directory / "report.png", width=1100, height=1500)
    return 0


def take(page: str, picture: Path, *, width: int, height: int | None = None) -> None:
    """Show a page and keep a picture of it, of its full height where none is given (at most 1,800 points)."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is needed for pictures: install it, or name it by CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        source.write_text(page, encoding="utf-8")
        command = [chromium, *FLAGS, f"--user-data-dir={folder}/profile"]
        if height is None:
            height = min(_height_of(command, source, width), 1_800)
        size = f"--window-size={width},{height}"
        subprocess.run(
            [*command, size, f"--screenshot={picture.absolute()}", source.as_uri()],
            check=True,
            capture_output=True,
            timeout=120,
        )
    sys.stdout.write(f"{picture}\n")


def _height_of(command: list[str], source: Path, width: int) -> int:
    """The height the page takes at a width, measured by a script that only this copy of it has."""
    measured = source.with_name("measured.html")
    script = "<script>document.title = document.documentElement.scrollHeight</script>"
    measured.write_text(source.read_text(encoding="utf-8") + script, encoding="utf-8")
    done = subprocess.run(
        [*command, f"--window-size={width},600", "--dump-dom", measured.as_uri()],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return int(done.stdout.partition("<title>")[2].partition("</title>")[0] or 1_500)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
