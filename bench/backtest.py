"""Leadline's verdicts against baselines and other tools on finished runs: `python bench/backtest.py`.

Every run of the sets (bench/backtest_sets.py) is replayed at ten equal shares of its length and scored by
../shared/score, whose head states the rule. Baselines and the peers that are installed answer the same looks. What was
said is kept by set, so that one set can be replayed anew: `--score-only` makes the tables of all that `--out` holds.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest_sets as sets
import backtest_tables as tables
import line_files
import numpy as np

from leadline.contract import Reading
from leadline.pipeline import read_run
from leadline.run import Run
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "bench" / "out" / "backtest"
SHARED = sets.SHARED
SETS = ("zoo_dev", "zoo2_dev", "zoo3_dev", "own", "own_third", "runs_dev", "logs", "third")
LOOKS = 10
BASELINES = ("last", "raw_max", "patience")
PEERS = {  # policy: whether it can be asked here
    "rldoctor": lambda: importlib.util.find_spec("rl_doctor") is not None,
    "rldoctor_warn": lambda: importlib.util.find_spec("rl_doctor") is not None,
    "rlwatch": lambda: importlib.util.find_spec("rlwatch") is not None,
    "ptt": lambda: "PTT_HOME" in os.environ,  # a clone of post-training-toolkit: its name on PyPI is an empty package
}
TOLD = {"eval/reward/mean": "reward/f"}  # the score tells every policy that this key holds a held-out score


@dataclass(frozen=True, slots=True)
class Job:
    """One run, and where the answers are to be given."""

    run: str  # as the score names it
    folder: str
    first: float
    last: float
    looks: int
    told: bool  # whether the run logs a key of TOLD

    @property
    def steps(self) -> list[float]:
        shares = [place / self.looks for place in range(1, self.looks + 1)]
        inner = [float(round(self.first + share * (self.last - self.first))) for share in shares[:-1]]
        return [*inner, self.last]

    def open(self) -> tuple[Run, Clock]:
        run = open_run(self.folder, mapping=TOLD if self.told else None)
        return run, Clock.of(run, self)


@dataclass(frozen=True, slots=True)
class Clock:
    """First and last step as the score counts them and as Leadline does: where a log has no plain step column, the
    score counts rows."""

    theirs: tuple[float, float]
    ours: tuple[float, float]

    @classmethod
    def of(cls, run: Run, job: Job) -> Clock:
        theirs, reward = (job.first, job.last), run.get("reward/mean")
        if reward is None or int(reward.steps[-1]) == job.last:
            return cls(theirs, theirs)
        return cls(theirs, (float(reward.steps[0]), float(reward.steps[-1])))

    def ours_at(self, step: float) -> int:
        return int(np.interp(step, self.theirs, self.ours))

    def theirs_at(self, step: float) -> float:
        return float(np.interp(step, self.ours, self.theirs))

    @property
    def planned(self) -> int:
        return int(self.ours[1])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read; all without it")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what --out holds already")
    arguments = parser.parse_args(argv)
    runs, score = _score_modules()
    chosen = [name for name in arguments.sets if sets.here(name)]
    truths = {}
    for name in chosen:
        if arguments.score_only and not (arguments.out / name / "leadline.jsonl").exists():
            continue
        cases = list(_cases(runs, [name], arguments.only))
        truths |= {run.id: (run, score.Truth(run)) for run in cases}
        if not arguments.score_only:
            _ours(_jobs(cases, LOOKS), arguments.out / name / "leadline.jsonl", arguments.processes)
            _others(cases, arguments.out / name)
    for table in tables.report(score, truths, arguments.out):
        print(table.text())
    return 0


@cache
def _score_modules() -> tuple[Any, Any]:
    sys.path.insert(0, str(sets.SHARED / "score"))
    import runs
    import score

    return runs, score


def all_jobs(chosen: Sequence[str], looks: int) -> list[tuple[Any, Job]]:
    """Every run that can be scored, with the looks at it."""
    runs, _ = _score_modules()
    cases = list(_cases(runs, [name for name in chosen if sets.here(name)], []))
    return list(zip(cases, _jobs(cases, looks), strict=True))


def everything(chosen: str) -> list[tuple[Any, Job | None]]:
    """Every run of a set that holds numbers, with its job where it can be scored."""
    runs, _ = _score_modules()
    loaded = [sets.load(runs, name) for name in sets.names(runs, chosen)]
    return [(run, _jobs([run], 1)[0] if run.n and runs.truth(run) is not None else None) for run in loaded]


def truth_of(name: str) -> Any:
    runs, score = _score_modules()
    return score.Truth(sets.load(runs, name))


def label_of(name: str) -> str:
    """What the index of a public set says happened in a run, before any bracket; empty where it says nothing."""
    runs, _ = _score_modules()
    told: str = sets.load(runs, name).index.get("trajectory_label", "")
    return told.partition(" (")[0]


def _cases(runs: Any, chosen: Sequence[str], only: Sequence[str]) -> Iterator[Any]:
    """The runs that can be scored."""
    for set_name in chosen:
        for name in sets.names(runs, set_name):
            run = sets.load(runs, name)
            if run.n and runs.truth(run) is not None and (not only or run.family in only):
                yield run


def _jobs(cases: Sequence[Any], looks: int) -> list[Job]:
    return [
        Job(run.id, run.folder, run.first, run.last, looks, any(key in run.native for key in TOLD.values()))
        for run in cases
    ]


def _ours(jobs: Sequence[Job], file: Path, processes: int) -> None:
    began = time.time()
    line_files.written(_replay, jobs, file, processes)
    print(f"{file.parent.name}: {len(jobs)} runs in {time.time() - began:.0f} s\n", flush=True)


def _replay(job: Job) -> list[dict[str, object]]:
    """Whole readings, and on what the verdict rests."""
    run, clock = job.open()
    lines = []
    for step in job.steps:
        began = time.process_time()
        said = read_run(run.until(clock.ours_at(step)), budget=clock.planned, charts="main")
        lines.append({**line_of(job, clock, step, said), "seconds": round(time.process_time() - began, 4)})
    return lines


def line_of(job: Job, clock: Clock, step: float, said: Reading) -> dict[str, object]:
    """A reading as the score wants it, and what the tables ask for."""
    judgement, best = said.judgement, said.judgement.best_checkpoint
    return {
        "run": job.run,
        "step": step,
        "last_step": job.last,
        "verdict": judgement.verdict,
        "best_step": None if best is None else clock.theirs_at(best.step),
        "p_best": None if best is None else best.p_best,
        "p_continue_pays": judgement.p_continue_pays,
        "reason": judgement.reason.kind,
        "because": list(judgement.because),
        "found": sorted({found.id for found in said.findings}),
        "concerns": sorted({found.id for found in said.findings if found.severity != "note"}),
    }


def _others(cases: Sequence[Any], out: Path) -> None:
    """Baselines and peers that can be asked here, through the score's own adapters, at its own ten looks."""
    import replay

    for name in (*BASELINES, *(name for name, here in PEERS.items() if here())):
        decide = replay.policy(name)
        with (out / f"{name}.jsonl").open("w") as file:
            for run in cases:
                for _, step in run.looks():
                    verdict, best, *_ = decide(run.upto(step), step, run)
                    line = {"run": run.id, "step": step, "last_step": run.last, "verdict": verdict, "best_step": best}
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
