"""Would the other sets of runs have chosen another value? `python bench/constants_left_out.py`.

Every constant of the judgement, and every other one that changes anything when it is halved or doubled
(docs/constants.json), is read at half, once, and twice its value over a part of all sets, and the decisions are scored
by ../shared/score. Each set is left out in turn: the others choose the factor with the best mean utility, and the
table shows what their choice costs or brings on the set they have not seen. One process a variation.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import backtest_tables as tables
import numpy as np
from constants import Constant, constants, kept
from constants_sweep import FACTORS, Look, Said, read_first, varied
from tables import Table

from leadline.sources import read_samples

Utility = dict[str, float]  # by set
FIGURES = ("U", "false_stop")
NOTHING = ("same", "unused", "fails")
ALIKE = 0.002  # of utility: a smaller difference between two values chooses neither


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=12, help="only every n-th run")
    parser.add_argument("--looks", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these constants, such as MEMORY")
    parser.add_argument("--out", type=Path, default=backtest.OUT.parent / "constants_left_out.jsonl")
    asked = parser.parse_args()
    chosen = [one for one in _deciding() if asked.only is None or one.name in asked.only]
    replayed = Replayed(asked.every, asked.looks)
    base = read_first(replayed.looks)
    plain, false, rows = *replayed.figures(base), []
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with asked.out.open("w") as file:
        for one, told in varied(chosen, asked.processes):
            figures = {1.0: (plain, false), **{factor: replayed.figures(base | said) for factor, said in _known(told)}}
            moved = [_moved(base, said) for said in told]
            file.write(json.dumps({"constant": one.key, "moved": moved, "figures": figures}) + "\n")
            file.flush()
            rows.append(_row(one, moved, figures))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    columns = (
        "constant",
        "value",
        "looks that change at half, twice",
        "chosen: half, as it is, twice",
        "on sets unseen",
        "false stops at half, as it is, twice",
    )
    note = f"{len(replayed.cases)} runs, {len(replayed.looks)} looks; utility by set: {_told(plain)}"
    print(Table("Constants with sets left out", "chosen as it is, or within noise", columns, rows, note).text())
    return 0


def _deciding() -> list[Constant]:
    swept = kept()
    return [
        one
        for one in constants()
        if one.part == "decides"
        and (".judgement." in one.module or any(told not in NOTHING for told in swept.get(one.key, ())))
    ]


class Replayed:
    """A part of the runs of all sets, and the score of what is said of them."""

    def __init__(self, every: int, looks: int) -> None:
        _, self.score = backtest._score_modules()
        self.cases: dict[str, tuple[Any, Any]] = {}
        self.looks: dict[str, Look] = {}
        self.of: dict[str, tuple[backtest.Job, backtest.Clock, float]] = {}
        for case, job in backtest.all_jobs(backtest.SETS, looks)[::every]:
            run, clock = job.open()
            run = read_samples(run, run.rollouts.steps)
            self.cases[job.run] = (case, self.score.Truth(case))
            for step in job.steps:
                look = f"{job.run}@{step:g}"
                self.looks[look] = Look(run, clock.ours_at(step), clock.planned)
                self.of[look] = (job, clock, step)

    def figures(self, said: Said) -> tuple[Utility, Utility]:
        """Return the mean utility of what is said, and the share of false stops, by set; public runs are averaged by
        repository first."""
        given: tables.Given = {}
        for look, told in said.items():
            job, clock, step = self.of[look]
            kept_at = None if told.kept is None else clock.theirs_at(told.kept)
            line = {"step": step, "last_step": job.last, "verdict": told.verdict, "best_step": kept_at}
            given.setdefault(job.run, []).append(line)
        by_set: dict[str, list[tables.Line]] = {}
        for row in tables.scored(self.score, self.cases, given):
            by_set.setdefault(tables.set_of(row["run"]), []).append(row)
        utility, false = ({name: self.score.mean(rows, of)[0] for name, rows in by_set.items()} for of in FIGURES)
        return utility, false


def _known(told: list[Said | None]) -> list[tuple[float, Said]]:
    return [(factor, said) for factor, said in zip(FACTORS, told, strict=True) if said is not None]


def _moved(base: Said, other: Said | None) -> int | None:
    """Return how many looks get another verdict or keep another step; None if the value makes no sense."""
    if other is None:
        return None
    return sum(base[look][2:] != told[2:] for look, told in other.items())


def _row(one: Constant, moved: list[int | None], figures: dict[float, tuple[Utility, Utility]]) -> list[str]:
    at = {factor: utility for factor, (utility, _) in figures.items()}
    sets, picked, unseen = list(at[1.0]), Counter[float](), []
    for left_out in sets:
        mean = {factor: float(np.mean([by[name] for name in sets if name != left_out])) for factor, by in at.items()}
        best = max(mean, key=lambda factor: mean[factor])
        best = best if mean[best] - mean[1.0] > ALIKE else 1.0
        picked[best] += 1
        unseen.append(at[best][left_out] - at[1.0][left_out])
    changes = ", ".join("fails" if looks is None else str(looks) for looks in moved)
    votes = ", ".join(str(picked[factor]) for factor in (0.5, 1.0, 2.0))
    stopped = ", ".join(f"{np.mean(list(figures[k][1].values())):.3f}" for k in (0.5, 1.0, 2.0) if k in figures)
    name = f"`{one.module.removeprefix('leadline.')}.{one.name}`"
    return [name, one.value, changes, votes, f"{np.mean(unseen):+.3f}", stopped]


def _told(by_set: Utility) -> str:
    return ", ".join(f"{name} {utility:.3f}" for name, utility in by_set.items())


if __name__ == "__main__":
    sys.exit(main())
