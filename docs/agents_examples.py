"""The examples of docs/agents.md: `python docs/agents_examples.py` records them, `--check` says if they are current.

Each is what a user sees, of the bundled run `hacked`: the server's answers through the official client, the commands of
the skill, and grades by a model, for which a script that adds stands in.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import anyio
from mcp import Client

from leadline.agents import library
from leadline.agents.roots import Roots
from leadline.agents.server import build
from leadline.cli import main as leadline

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "agents.md"
RUN = "leadline/examples/hacked"
WIDE = 116
BLOCK = re.compile(r"(<!-- recorded: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def server() -> str:
    """What an agent asks first of a run, and what it asks of the finding that weighs most."""
    library.PATIENCE = 600.0  # a triage that answers with what it has would be another one on a busy machine

    async def asked() -> list[tuple[str, Any]]:
        async with Client(build(library.Library(Roots.of([ROOT / "leadline" / "examples"])))) as client:
            calls: list[tuple[str, dict[str, Any]]] = [("triage", {}), ("read_run", {"path": "hacked"})]
            told = [(f"{tool} {json.dumps(how)}", await client.call_tool(tool, how)) for tool, how in calls]
            finding = told[1][1].structured_content["findings"][0]["id"]
            how = {"path": "hacked", "finding": finding}
            return [*told, (f"evidence {json.dumps(how)}", await client.call_tool("evidence", how))]

    lines = []
    for call, answer in anyio.run(asked):
        text = json.dumps(json.loads(answer.content[0].text), ensure_ascii=False)
        lines += [f"> {call}", *textwrap.wrap(text, WIDE, break_on_hyphens=False), ""]
    return "\n".join(lines[:-1])


def skill() -> str:
    """The skill is installed, and followed to its first look at the samples."""
    with _elsewhere():
        installed = _printed("skill install --agent claude")
    return "\n\n".join(
        [
            installed,
            _printed(f"read {RUN} --no-color", most=6),
            _printed(f"samples {RUN} --limit 4 --no-color"),
        ]
    )


def reader() -> str:
    """Grades by a model; a script that adds stands in for it."""
    with tempfile.TemporaryDirectory() as place, patch("leadline.review.model.asking", lambda *told: graded):
        os.environ["XDG_STATE_HOME"] = place  # the review is not to be found there later
        told = _printed(f"review {RUN} --model qwen3 --endpoint http://localhost:8000/v1")
    told = re.sub(r"/\S+/reviews/\w+", "~/.local/state/leadline/reviews/0123456789abcdef01234567", told)
    return re.sub(r"\d{4}-\d\d-\d\d", "2026-11-18", told)  # a review tells its day: the page is compared on others


def graded(text: str) -> str:
    """A script that adds and grades sums."""
    return json.dumps({letter: sum(map(_is_right, some)) / len(some) for letter, some in json.loads(text).items()})


def _is_right(sample: Any) -> bool:
    one, other = re.fullmatch(r"(\d+)\+(\d+)=", sample["prompt"]).groups()  # type: ignore[union-attr]
    told = re.split(r"[>~]", sample["response"].strip().removesuffix("."))[-1]
    return sample["response"].strip().endswith(".") and told == str(int(one) + int(other))


def _printed(command: str, most: int | None = None) -> str:
    """A command and what it prints, `most` lines of it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = leadline(command.split())
    assert code == 0, command
    lines = out.getvalue().rstrip("\n").splitlines()
    shown = lines if most is None or len(lines) <= most else [*lines[:most], "..."]
    return "\n".join([f"$ leadline {command}", *shown])


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """In an empty folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(before)


RECORDED = {"server": server, "skill": skill, "reader": reader}


def recorded(page: str) -> str:
    """The page with its examples as they are today."""
    os.environ["COLUMNS"] = "100"
    os.chdir(ROOT)

    def current(block: re.Match[str]) -> str:
        text = "\n".join(line.rstrip() for line in RECORDED[block[2]]().splitlines())
        return f"{block[1]}```text\n{text}\n```\n{block[4]}"

    return BLOCK.sub(current, page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where the page is not current")
    check = parser.parse_args().check
    page = PAGE.read_text(encoding="utf-8")
    assert {block[2] for block in BLOCK.finditer(page)} == set(RECORDED)
    now = recorded(page)
    if check:
        return int(now != page)
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
