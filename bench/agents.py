"""What agents pay and what readers make of a run: `python bench/agents.py tokens | questions | blind`.

tokens      what an answer of `leadline mcp` costs beside the raw log, by a real tokenizer: the examples, then every
            tool over all runs of both zoos, at several cuts.
questions   whether three questions over runs with known truth can be answered by script from the JSON of the CLI alone.
blind       what grades by a model come to over zoo2: of an exact reader, of readers with wrong grades or a taste, and
            of readers who obey an order in the responses.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from agents_blind import blind
from agents_questions import questions
from agents_tokens import tokens


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"tokens": tokens, "questions": questions, "blind": blind}
    parser.add_argument("what", choices=list(parts))
    parser.add_argument("--every", type=int, default=1, help="take every n-th run; for questions and tokens")
    parser.add_argument("--also", nargs="*", type=Path, default=[], help="further folders of runs, for tokens")
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what was replayed before, for questions")
    arguments = parser.parse_args(argv)
    parts[arguments.what](arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
