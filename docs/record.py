"""Record what the commands in the docs print: `python docs/record.py`; `--check` names pages that are out of date.

A ```console block holds one command, `$ leadline ...`, and its output at 100 columns. `<!-- lines 1-6,9 -->` before it
keeps those lines and marks each gap with `...`; `<!-- silent -->` keeps none. A ```text block after a ```python block
holds what the code prints. Commands of a page share a state folder that starts empty, so a review that a page gives
counts further down.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from leadline.cli import main as leadline

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("index.md", "guide/*.md", "diagnoses/*.md")
COMMAND = re.compile(
    r"(?:<!-- (?:lines )?(?P<lines>[\d,-]+|silent) -->\n)?"
    r"```console\n\$ leadline (?P<command>.+)\n(?P<output>(?:.*\n)*?)```\n"
)
CODE = re.compile(r"```python\n(?P<code>(?:.*\n)*?)```\n\n```text\n(?P<output>(?:.*\n)*?)```\n")


def pages() -> Iterator[Path]:
    """Yield the pages whose commands are recorded."""
    return (page for pattern in PAGES for page in sorted((ROOT / "docs").glob(pattern)))


def recorded(text: str) -> str:
    """Return a page with every output replaced by what is printed now."""
    with tempfile.TemporaryDirectory() as state, patch.dict(os.environ, XDG_STATE_HOME=state, COLUMNS="100"):
        return CODE.sub(_with_printed, COMMAND.sub(_with_output, text))


def _with_output(found: re.Match[str]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), _in_root():
        leadline(shlex.split(found["command"]))
    kept = _kept(printed.getvalue().splitlines(), found["lines"])
    output = "".join(f"{line.rstrip()}\n" for line in kept)
    return _replaced(found, output)


@contextlib.contextmanager
def _in_root() -> Iterator[None]:
    """Work in the root of the repository: `contextlib.chdir` came with Python 3.11."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        yield
    finally:
        os.chdir(before)


def _kept(lines: list[str], wanted: str | None) -> list[str]:
    if wanted is None:
        return lines
    if wanted == "silent":
        return []
    kept, place = [], 0
    for part in wanted.split(","):
        first, _, last = part.partition("-")
        if int(first) - 1 > place:
            kept.append("...")
        place = int(last or first)
        kept += lines[int(first) - 1 : place]
    return kept if place >= len(lines) else [*kept, "..."]


def _with_printed(found: re.Match[str]) -> str:
    done = subprocess.run([sys.executable, "-c", found["code"]], cwd=ROOT, capture_output=True, text=True, check=True)
    return _replaced(found, done.stdout)


def _replaced(found: re.Match[str], output: str) -> str:
    whole, start = found[0], found.start()
    return whole[: found.start("output") - start] + output + whole[found.end("output") - start :]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    stale = 0
    asked = parser.parse_args()
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = recorded(before)
        if after != before:
            stale += 1
            print(f"{page.relative_to(ROOT)}: {'out of date' if asked.check else 'recorded'}")
            if not asked.check:
                page.write_text(after, encoding="utf-8")
    return int(asked.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
