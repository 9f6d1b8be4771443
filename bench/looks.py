"""Single looks, as a reader is asked for one: `python bench/looks.py`.

Every development run is cut at random between 30 and 70 % of its plan (fixed seed), and each policy is asked once:
does a clear gain still come, and which step would you keep? Right by the words: an end is said where no gain came, and
none where one did. Regret is of the step named against the best so far, in shares of the truth's range.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import numpy as np
from backtest_tables import gain_came
from tables import Table

from leadline.pipeline import read_run

SEED = 12
LOW, HIGH = 0.3, 0.7  # of the plan: where runs are cut
CUTS = 2  # looks a run
BAR = 0.3  # probability of a gain, cut here: the words as the number alone would give them
TARGET = "right >= .80, false stops <= .05, regret <= .06, Brier <= .12"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said at one look."""

    ends: bool
    step: float | None
    p: float | None
    leans: bool = False  # undecided, and rather to an end than not


@dataclass(frozen=True, slots=True)
class Asked:
    """A run and the steps at which it is looked at."""

    job: backtest.Job
    steps: tuple[float, ...]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=["zoo_dev", "zoo2_dev", "zoo3_dev", "third"])
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read; all without it")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    runs, score = backtest._score_modules()
    cases = list(backtest._cases(runs, arguments.sets, arguments.only))
    truths = {run.id: (run, score.Truth(run)) for run in cases}
    rng = np.random.default_rng(SEED)
    asked = []
    for job in backtest._jobs(cases, CUTS):
        shares = rng.uniform(LOW, HIGH, size=CUTS)
        asked.append(Asked(job, tuple(float(round(job.first + share * (job.last - job.first))) for share in shares)))
    with ProcessPoolExecutor(arguments.processes) as pool:
        ours = dict(zip((one.job.run for one in asked), pool.map(leadline_at, asked), strict=True))
    answers = {"leadline": ours, **_others(asked, truths)}
    for name in arguments.sets:
        print(_table(name, asked, truths, answers).text())
    return 0


def leadline_at(asked: Asked) -> list[Answer]:
    """The only place where this bench touches the product."""
    run, clock = asked.job.open()
    said = []
    for step in asked.steps:
        judgement = read_run(run.until(clock.ours_at(step)), budget=clock.planned).judgement
        best = judgement.best_checkpoint
        named = None if best is None else clock.theirs_at(best.step)
        ends = judgement.verdict in ("stop", "roll_back")
        said.append(Answer(ends, named, judgement.p_continue_pays, judgement.leans_to_stop))
    return said


def _others(asked: Sequence[Asked], truths: dict[str, Any]) -> dict[str, dict[str, list[Answer]]]:
    import replay

    answers: dict[str, dict[str, list[Answer]]] = {}
    for name in (*backtest.BASELINES, *(name for name, here in backtest.PEERS.items() if here())):
        decide = replay.policy(name)
        answers[name] = {}
        for one in asked:
            run = truths[one.job.run][0]
            said = [decide(run.upto(step), step, run) for step in one.steps]
            answers[name][one.job.run] = [
                Answer(verdict in ("stop", "roll_back"), best, None) for verdict, best, *_ in said
            ]
    return answers


def _table(
    title: str, asked: Sequence[Asked], truths: dict[str, Any], answers: dict[str, dict[str, list[Answer]]]
) -> Table:
    cells = []
    for name, given in answers.items():
        right, leaning, false, regret, brier, by_number = [], [], [], [], [], []
        for one in asked:
            run, truth = truths[one.job.run]
            if run.set != title:
                continue
            for step, said in zip(one.steps, given[one.job.run], strict=True):
                came = gain_came(truth, step)
                right.append(said.ends != came)
                leaning.append((said.ends or said.leans) != came)
                false.append(said.ends and came)
                so_far = truth.v[: max(1, int(np.searchsorted(truth.s, step, side="right")))]
                taken = truth.v[truth.snap(step if said.step is None else said.step, step)]
                regret.append((float(so_far.max()) - float(taken)) / truth.S if truth.S > 1e-12 else 0.0)
                if said.p is not None:
                    brier.append((said.p - came) ** 2)
                    by_number.append((said.p >= BAR) == came)
        cells.append(
            [
                name,
                str(len(right)),
                f"{np.mean(right):.2f}",
                f"{np.mean(leaning):.2f}",
                f"{np.mean(by_number):.2f}" if by_number else "",
                f"{np.mean(false):.3f}",
                f"{np.mean(regret):.3f}",
                f"{np.mean(brier):.3f}" if brier else "",
            ]
        )
    columns = (
        "policy",
        "looks",
        "right by the words",
        "with what they lean to",
        f"by p >= {BAR}",
        "false stops",
        "regret",
        "Brier",
    )
    return Table(f"Single looks, {title}", TARGET, columns, cells)


if __name__ == "__main__":
    raise SystemExit(main())
