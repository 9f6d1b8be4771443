"""Records the exact reports again: the golden files and the output in the README. Review the diff like code.

python tests/golden/record.py
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

from leadline.cli import main

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
RUNS = ("healthy", "collapsed", "hacked")


def printed(*argv: str) -> str:
    """What the command prints, from the repository root, a hundred columns wide."""
    before = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(ROOT)
    os.environ["COLUMNS"] = "100"
    page = io.StringIO()
    try:
        with contextlib.redirect_stdout(page):
            assert main(argv) == 0
    finally:
        os.chdir(before[0])
        del os.environ["COLUMNS"]
        if before[1] is not None:
            os.environ["COLUMNS"] = before[1]
    return page.getvalue()


def record() -> None:
    for run in RUNS:
        place = GOLDEN / run / "terminal.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text(printed("read", f"leadline/examples/{run}"))
    readme = ROOT / "README.md"
    text = readme.read_text()
    command = re.search(r"^    leadline (read .+)$", text, flags=re.MULTILINE)
    assert command
    shown = f"<!-- output -->\n```text\n{printed(*command[1].split())}```"
    readme.write_text(re.sub(r"<!-- output -->\n```text\n.*?```", lambda _: shown, text, flags=re.DOTALL))


if __name__ == "__main__":
    record()
