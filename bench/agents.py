"""What agents pay and what a second reader is worth: `python bench/agents.py tokens | questions | blind | injections`.

tokens      what an answer of `leadline mcp` costs beside the raw log, by a real tokenizer: the examples, then every
            tool over all runs of both zoos, at several cuts.
questions   whether three questions over runs with known truth can be answered by script from the JSON of the CLI alone.
blind       zoo2 U with a reader that grades exactly, and with 10 and 30 % of the grades flipped at random, beside U
            without a second reader; on the half of the runs on which the rules were not made.
injections  answers carry an order to their judge: how often an obedient reader, and a careful one, is turned by it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from agents_blind import HALVES, blind, injections
from agents_questions import questions
from agents_tokens import tokens


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"tokens": tokens, "questions": questions, "blind": blind, "injections": injections}
    parser.add_argument("what", choices=list(parts))
    parser.add_argument("--looks", type=int, default=10, help="of blind")
    parser.add_argument("--half", choices=list(HALVES), default="other", help="of the runs, for blind and injections")
    parser.add_argument("--every", type=int, default=1, help="take every n-th run; for questions and tokens")
    parser.add_argument("--also", nargs="*", type=Path, default=[], help="further folders of runs, for tokens")
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what was replayed before")
    arguments = parser.parse_args(argv)
    parts[arguments.what](arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
