"""What agents pay and what a second reader is worth: `python bench/agents.py tokens | questions | blind | injections`.

tokens      what an answer of `leadline mcp` costs beside the raw log, by a real tokenizer.
questions   whether three questions over runs with known truth can be answered by script from the JSON of the CLI alone.
blind       zoo2 U with a reader that grades exactly, and with 10 and 30 % of the grades flipped at random, beside U
            without a second reader; on the half of the runs on which the rules were not made.
injections  answers carry an order to their judge: how often an obedient reader, and a careful one, is turned by it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from agents_blind import HALVES, blind, injections
from agents_questions import questions
from tables import Table

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "leadline" / "examples"


def tokens(arguments: argparse.Namespace) -> None:
    import anyio
    import bpe_openai
    from mcp import Client

    from leadline.agents.library import Library
    from leadline.agents.roots import Roots
    from leadline.agents.server import build

    encoding = bpe_openai.get_encoding("o200k_base")
    rows = []

    def count(text: str) -> int:
        """By parts: the tokenizer takes no more than 200 000 tokens at once."""
        return sum(len(encoding.encode(text[start : start + 100_000])) for start in range(0, len(text), 100_000))

    async def counted() -> None:
        async with Client(build(Library(Roots.of([EXAMPLES])))) as client:
            tools = (await client.list_tools()).tools
            written = json.dumps([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools])
            rows.append(["all tool definitions", "", str(count(written)), "", ""])
            for name in ("healthy", "collapsed", "hacked"):
                log = next(
                    file for file in (EXAMPLES / name).iterdir() if file.name in ("trainer_state.json", "metrics.jsonl")
                )
                raw = count(log.read_text())
                texts = sum(count(file.read_text()) for file in (EXAMPLES / name / "rollouts").iterdir())
                for tool, asked in (
                    ("read_run", {}),
                    ("read_run", {"detail": "high"}),
                    ("samples", {}),
                    ("sources", {}),
                ):
                    answer = (await client.call_tool(tool, {"path": name, **asked})).content[0].text
                    paid = count(answer)
                    beside = texts if tool == "samples" else raw
                    told = f"{tool} {' '.join(asked.values())}".strip()
                    rows.append([name, told, str(paid), str(beside), f"{beside / paid:.0f}x"])

    anyio.run(counted)
    print(
        Table(
            "tokens (o200k)",
            "definitions <= 1500, an answer <= 800",
            ["run", "asked", "answer", "raw log", "less"],
            rows,
        ).text()
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"tokens": tokens, "questions": questions, "blind": blind, "injections": injections}
    parser.add_argument("what", choices=list(parts))
    parser.add_argument("--looks", type=int, default=10, help="of blind")
    parser.add_argument("--half", choices=list(HALVES), default="other", help="of the runs, for blind and injections")
    parser.add_argument("--every", type=int, default=1, help="take every n-th run; for questions and tokens")
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what was replayed before")
    arguments = parser.parse_args(argv)
    parts[arguments.what](arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
