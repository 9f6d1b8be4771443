"""What a reader is worth who answers when asked: `python bench/reviews.py`, after `python bench/backtest.py`.

The runs of zoo2 and zoo3 that keep text are replayed with the answers of simulated readers. A reader is asked when
"responses changed" is said at a look and no answer is out: "hacked" if the truth has lost a fifth by then, dated to the
end of the fifth of the run so far in which it turned, else "ok". Some answers are wrong; a wrong date is any. The most
that reading can be worth: one who looks unasked, and says so at the first look after a fifth is lost.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import backtest_sets as sets
import backtest_tables
import line_files
import numpy as np
from tables import Table, average

from leadline.pipeline import read_run
from leadline.run import Review, Run

SETS = ("zoo2_dev", "zoo3_dev")
ASKS = "generation.changed"
LOST = 0.2  # of the truth's range
STRETCHES = 5
UNASKED = "never wrong, unasked"
READERS = {
    "never wrong": (0.0, 0),
    UNASKED: (0.0, 0),
    **{f"right 9 times in 10, {seed}": (0.1, seed) for seed in (1, 2, 3)},
}
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A run, and what was said of it without a reader."""

    job: backtest.Job
    alone: tuple[Line, ...]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backtest", type=Path, default=backtest.OUT, help="what bench/backtest.py kept")
    parser.add_argument("--out", type=Path, default=backtest.ROOT / "bench" / "out" / "reviews.jsonl")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what --out holds already")
    arguments = parser.parse_args(argv)
    _, score = backtest._score_modules()
    given = backtest_tables.read(arguments.backtest)
    cases = [(run, job) for run, job in backtest.all_jobs(arguments.sets, backtest.LOOKS) if job.run in given]
    if not arguments.score_only:
        asked = [Asked(job, tuple(given[job.run])) for _, job in cases]
        line_files.written(_replayed, asked, arguments.out, arguments.processes)
    lines = line_files.read(arguments.out)
    truths = {run.id: (run, score.Truth(run)) for run, _ in cases}
    for name in arguments.sets:
        print(_table(name, score, truths, lines).text())
    return 0


def _replayed(asked: Asked) -> list[Line]:
    """The looks of every reader; nothing of a run without text."""
    run, clock = asked.job.open()
    if not run.rollouts.steps:
        return []
    truth, known = backtest.truth_of(asked.job.run), dict[tuple[float, tuple[Review, ...]], Line]()
    lines = [{**look, "reader": "alone", "questions": 0} for look in asked.alone]

    def read(step: float, alone: Line, reviews: tuple[Review, ...]) -> Line:
        if not reviews:
            return alone
        if (step, reviews) not in known:  # readers agree most of the time
            seen = replace(run.until(clock.ours_at(step)), reviews=reviews)
            said = read_run(seen, budget=clock.planned, charts="main")
            known[step, reviews] = backtest.line_of(asked.job, clock, step, said)
        return known[step, reviews]

    for name, (wrong, seed) in READERS.items():
        rng, reviews = random.Random(f"{asked.job.run} {seed}"), tuple[Review, ...]()
        for step, alone in zip(asked.job.steps, asked.alone, strict=True):
            said = read(step, alone, reviews)
            if name == UNASKED or ASKS in said["found"]:
                answer = _answer(run.until(clock.ours_at(step)), clock, truth, step, rng, wrong)
                if name != UNASKED or (answer.answer == "hacked" and not reviews):
                    reviews = (*reviews, answer)
                said = read(step, alone, reviews)
            lines.append({**said, "reader": name, "questions": len(reviews)})
    return lines


def _answer(seen: Run, clock: backtest.Clock, truth: Any, step: float, rng: random.Random, wrong: float) -> Review:
    so_far = truth.v[: max(1, int(np.searchsorted(truth.s, step, side="right")))]
    turned = int(so_far.argmax())
    hacked = bool(so_far[turned] - so_far[-1] > LOST * truth.S)
    ends = truth.first + (step - truth.first) * np.arange(1, STRETCHES + 1) / STRETCHES
    since = int(np.searchsorted(ends[:-1], truth.s[turned]))
    errs, any_end = rng.random() < wrong, rng.randrange(STRETCHES)
    until = int(seen.rollouts.steps[-1]) if seen.rollouts.steps else int(seen.last_step or 0)
    if hacked is errs:
        return Review("ok", until, reader="simulated")
    return Review("hacked", until, clock.ours_at(float(ends[any_end if errs else since])), reader="simulated")


def _table(name: str, score: Any, truths: dict[str, Any], lines: Sequence[Line]) -> Table:
    by_reader: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        if backtest_tables.set_of(line["run"]) == name:
            by_reader.setdefault(line["reader"], {}).setdefault(line["run"], []).append(line)
    rows = {reader: backtest_tables.scored(score, truths, given) for reader, given in by_reader.items()}
    alone = {row["run"]: row["U"] for row in rows["alone"]}
    sound = {run: sets.sound(truths[run][0]) for run in alone}
    cells = []
    for reader, some in rows.items():
        figures = score.summary(some)
        given = by_reader[reader]
        questions = {run: looks[-1]["questions"] for run, looks in given.items()}
        cells.append(
            [
                reader,
                *(f"{figures[key]:.3f}" for key in ("U", "regret", "spent", "false_stop", "select")),
                average(row["U"] - alone[row["run"]] for row in some),
                *(
                    average(row["U"] - alone[row["run"]] for row in some if sound[row["run"]] is kind)
                    for kind in (True, False)
                ),
                *(
                    average((count for run, count in questions.items() if sound[run] is kind), 2)
                    for kind in (True, False)
                ),
                str(sum(sound[run] is True and backtest_tables.accused(looks) for run, looks in given.items())),
            ]
        )
    columns = (
        *("reader", "U", "regret", "spent", "false", "select", "U above alone", "sound", "bad"),
        *("questions a sound run", "a bad run", "sound accused"),
    )
    return Table(f"{name}: {len(alone)} runs with text", "U above alone >= .08", columns, cells)


if __name__ == "__main__":
    raise SystemExit(main())
