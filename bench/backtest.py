"""Leadline's verdicts against baselines and other tools on finished runs: `python bench/backtest.py`.

Every run of ../shared/zoo, zoo2.tar.gz and runs is replayed at equal shares of its length and scored by
../shared/score, whose head states the rule. Baselines and the peers that are installed answer the same looks in the
same run.
`--sweep` halves and doubles the constants of the judgement instead, on the findings of the last replay.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest_sets as sets
import backtest_sweep as sweep
import backtest_tables as tables
import line_files
import numpy as np
from backtest_third import WithThird

from leadline.curve import Curve
from leadline.facts import Facts, Finding, by_weight
from leadline.judgement import judge
from leadline.judgement.case import case_of
from leadline.judgement.evidence import WEIGHTS
from leadline.pipeline import read_view, view_of
from leadline.reading import View
from leadline.reading.gamed import evidence_of
from leadline.run import Run, Series
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
SHARED = sets.SHARED
SEEN = ("elapsed", "rises", "rise", "lately", "room")  # of a forecast: what its probability is made of
SETS = ("zoo_dev", "zoo2_dev", "runs_dev")
BASELINES = ("last", "raw_max", "patience")
PEERS = {  # policy: whether it can be asked here
    "rldoctor": lambda: importlib.util.find_spec("rl_doctor") is not None,
    "rldoctor_warn": lambda: importlib.util.find_spec("rl_doctor") is not None,
    "rlwatch": lambda: importlib.util.find_spec("rlwatch") is not None,
    "ptt": lambda: "PTT_HOME" in os.environ,  # a clone of post-training-toolkit: its name on PyPI is an empty package
}
OFTEN = (20, 50)  # looks at which plateaus alone are judged: what looking more often does
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
    findings: tuple[tuple[float, tuple[Finding, ...]], ...] = ()  # of an earlier replay, by step

    @property
    def steps(self) -> list[float]:
        shares = [place / self.looks for place in range(1, self.looks + 1)]
        inner = [float(round(self.first + share * (self.last - self.first))) for share in shares[:-1]]
        return [*inner, self.last]

    def open(self) -> tuple[Run, Clock]:
        run = open_run(self.folder, mapping=TOLD if self.told else None)
        return run, Clock.of(run, self)

    def found_by(self, step: float) -> tuple[Finding, ...]:
        return next((found for at, found in reversed(self.findings) if at <= step), ())


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


@dataclass(frozen=True, slots=True, eq=False)
class Kept(View):
    """A view that shares its curves with the other views of its run: what was seen a span ago was fitted then."""

    fits: dict[tuple[str, int], Curve] = field(default_factory=dict, repr=False)

    def fit(self, series: Series) -> Curve:
        key = (series.name, series.points)
        if key not in self.fits:
            self.fits[key] = View.fit(self, series)
        return self.fits[key]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "out" / "backtest")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read; all without it")
    parser.add_argument("--looks", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what --out holds already")
    parser.add_argument("--sweep", action="store_true", help="halve and double the constants")
    arguments = parser.parse_args(argv)
    runs, score = _score_modules()
    out: Path = arguments.out
    (out / "often").mkdir(parents=True, exist_ok=True)
    cases = list(_cases(runs, arguments.sets, arguments.only))
    truths = {run.id: (run, score.Truth(run)) for run in cases}
    if arguments.sweep:
        jobs = _jobs(cases, arguments.looks, tables.read(out / "leadline.jsonl"))
        print(sweep.table(score, truths, jobs, arguments.processes).text())
        return 0
    if not arguments.score_only:
        _ours(_jobs(cases, arguments.looks), out / "leadline.jsonl", _replay, arguments.processes)
        found = tables.read(out / "leadline.jsonl")
        for looks in OFTEN:
            _ours(_jobs(cases, looks, found), out / "often" / f"{looks}.jsonl", _plateaus, arguments.processes)
        _others(cases, out)
    for table in tables.report(score, truths, out):
        print(table.text())
    return 0


@cache
def _score_modules() -> tuple[Any, Any]:
    sets.set_environment()
    sys.path.insert(0, str(sets.SHARED / "score"))
    import runs
    import score

    return WithThird(runs), score


def all_jobs(chosen: Sequence[str], looks: int) -> list[tuple[Any, Job]]:
    """Every run that can be scored, with the looks at it."""
    runs, _ = _score_modules()
    cases = list(_cases(runs, chosen, []))
    return list(zip(cases, _jobs(cases, looks), strict=True))


def everything(chosen: str) -> list[tuple[Any, Job | None]]:
    """Every run of a set that holds numbers, with its job where it can be scored."""
    runs, _ = _score_modules()
    where = runs.roots()
    loaded = [runs.load_run(name, where) for name in runs.list_runs(chosen, where[chosen])]
    return [(run, _jobs([run], 1)[0] if run.n and runs.truth(run) is not None else None) for run in loaded]


def truth_of(name: str) -> Any:
    runs, score = _score_modules()
    return score.Truth(sets.load(runs, name))


def label_of(name: str) -> str:
    """What the index of a public set says happened in a run, before any bracket; empty where it says nothing."""
    runs, _ = _score_modules()
    told: str = sets.load(runs, name).index.get("trajectory_label", "")
    return told.partition(" (")[0]


def sound(run: Any, not_to_be_believed: Collection[str]) -> bool:
    """Whether what the policy is worth follows the score it was trained on."""
    if run.kind == "public":
        return True
    told = json.loads((Path(run.folder) / "truth.json").read_text()).get("sound")
    return run.family not in not_to_be_believed if told is None else bool(told)


def _cases(runs: Any, chosen: Sequence[str], only: Sequence[str]) -> Iterator[Any]:
    """The runs that can be scored."""
    for set_name in chosen:
        for name in sets.names(runs, set_name):
            run = sets.load(runs, name)
            if run.n and runs.truth(run) is not None and (not only or run.family in only):
                yield run


def _jobs(cases: Sequence[Any], looks: int, found: dict[str, list[dict[str, Any]]] | None = None) -> list[Job]:
    jobs = []
    for run in cases:
        told = any(key in run.native for key in TOLD.values())
        lines = (found or {}).get(run.id, [])
        findings = tuple((line["step"], tuple(map(_finding, line["findings"]))) for line in lines)
        jobs.append(Job(run.id, run.folder, run.first, run.last, looks, told, findings))
    return jobs


def _finding(kept: Sequence[Any]) -> Finding:
    """A finding as the judgement sees it: it looks at no facts."""
    name, p, severity, since = kept
    return Finding(name, p, severity, Facts(), since)


def _ours(jobs: Sequence[Job], file: Path, replay: Callable[[Job], list[dict[str, object]]], processes: int) -> None:
    began = time.time()
    line_files.written(replay, jobs, file, processes)
    print(f"{len(jobs)} runs x {jobs[0].looks} looks in {time.time() - began:.0f} s\n", flush=True)


def _replay(job: Job) -> list[dict[str, object]]:
    """Whole readings, and on what the verdict rests."""
    run, clock = job.open()
    lines = []
    for step in job.steps:
        seen = run.until(clock.ours_at(step))
        began = time.process_time()
        view = view_of(seen, budget=clock.planned)
        said = read_view(view, budget=clock.planned)
        seconds = time.process_time() - began
        best = said.judgement.best_checkpoint
        lines.append(
            {
                "run": job.run,
                "step": step,
                "last_step": job.last,
                "verdict": said.judgement.verdict,
                "best_step": None if best is None else clock.theirs_at(best.step),
                "p_continue_pays": said.judgement.p_continue_pays,
                "reason": said.judgement.reason.kind,
                "grounds": _grounds(view, by_weight(said.findings), clock.planned),
                "findings": [
                    (found.id, found.p, found.severity, found.since_step)
                    for found in said.findings
                    if found.id in WEIGHTS
                ],
                "concerns": sorted({found.id for found in said.findings if found.severity != "note"}),
                "because": list(said.judgement.because),
                "seconds": round(seconds, 4),
                "judging": round(_judging(view, said.findings, clock.planned), 4),
            }
        )
    return lines


def _grounds(view: View, findings: Sequence[Finding], planned: int) -> dict[str, object] | None:
    """What is needed to judge again with other fitted numbers (bench/forecast.py)."""
    case = case_of(view, findings, evidence_of(view), planned=planned)
    if case is None or not case.curve.decidable:
        return None
    seen = (
        None if outlook is None else [getattr(outlook, name) for name in SEEN]
        for outlook in (case.outlook.now, case.outlook.before)
    )
    return {"now_and_before": list(seen), "no_gain": case.p_no_gain, "ended": case.plan.ended}


def _judging(view: View, findings: Sequence[Finding], planned: int) -> float:
    """Processor seconds of the judgement alone, its curve being fitted already."""
    began = time.process_time()
    judge(view, findings, evidence_of(view), planned=planned)
    return time.process_time() - began


def _plateaus(job: Job) -> list[dict[str, object]]:
    """The judged series read anew at every look, with the findings of the last whole reading."""
    run, clock = job.open()
    fits: dict[tuple[str, int], Curve] = {}
    lines: list[dict[str, object]] = []
    for step in job.steps:
        view = Kept(run.until(clock.ours_at(step)), fits=fits)
        said = judge(view, job.found_by(step), planned=clock.planned)
        best = None if said.best_checkpoint is None else clock.theirs_at(said.best_checkpoint.step)
        lines.append({"run": job.run, "step": step, "verdict": said.verdict, "best_step": best})
    return lines


def _others(cases: Sequence[Any], out: Path) -> None:
    """Baselines and peers that can be asked here, through the score's own adapters, at its own ten looks."""
    import replay

    for name in (*BASELINES, *(name for name, here in PEERS.items() if here())):
        decide = replay.policy(name)
        with (out / f"{name}.jsonl").open("w") as file:
            for run in cases:
                for _, step in run.looks():
                    seen = run.upto(step)
                    began = time.process_time()
                    verdict, best, *_ = decide(seen, step, run)
                    seconds = time.process_time() - began
                    line = {"run": run.id, "step": step, "last_step": run.last, "verdict": verdict, "best_step": best}
                    file.write(json.dumps({**line, "seconds": seconds}) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
