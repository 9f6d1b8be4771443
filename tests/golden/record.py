"""Records the exact reports again: the golden files and the output in the README.

Review the diff like code.

python tests/golden/record.py
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from dataclasses import replace
from pathlib import Path

from leadline.cli import main
from leadline.pipeline import read
from leadline.report import terminal

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
RUNS = ("healthy", "collapsed", "hacked")
SHOWN = 16  # lines of output in the README, as in tests/test_pages.py
HALF_WAY = {"healthy": 60, "collapsed": 230, "hacked": 300}  # where there is something to say of what may come


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


def reports(run: str) -> dict[str, str]:
    """Every recorded report of a run by the name of its file."""
    path, until = f"leadline/examples/{run}", HALF_WAY[run]
    reading = read(ROOT / path, until=until)
    reading = replace(reading, run=replace(reading.run, path=path))
    return {
        "terminal.txt": printed("read", path),
        "half-way.txt": printed("read", path, "--until", str(until)),
        "80x24.txt": terminal.render(reading, width=80, height=23),
        "reading.md": printed("read", path, "--md", "-"),
    }


def record() -> None:
    for run in RUNS:
        (GOLDEN / run).mkdir(exist_ok=True)
        for name, text in reports(run).items():
            (GOLDEN / run / name).write_text(text)
    readme = ROOT / "README.md"
    text = readme.read_text()
    command = re.search(r"^    leadline (read .+)$", text, flags=re.MULTILINE)
    assert command
    first = "".join(printed(*command[1].split()).splitlines(keepends=True)[:SHOWN])
    shown = f"<!-- output -->\n```text\n{first}```"
    readme.write_text(re.sub(r"<!-- output -->\n```text\n.*?```", lambda _: shown, text, flags=re.DOTALL))


if __name__ == "__main__":
    record()
