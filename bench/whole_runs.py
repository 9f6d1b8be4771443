"""Every run at hand, read as it stood at shares of its length, for bench/first_lines.py and bench/steadiness.py.

Runs of ../shared (both zoos, public runs, further logs) and of our own (bench/own_zoo.py). Readings are kept in
bench/out/whole_runs, one file a run, so that both benches and every change to them need one pass: `--cached` reads what
lies there. Without ../shared it says so.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import backtest_sets
from tables import Table

from leadline.contract import ChartData, Reading
from leadline.errors import LeadlineError
from leadline.pipeline import read_run
from leadline.sources import open_run

LOOKS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the run's length
SCORED = ("zoo_dev", "zoo2_dev", "zoo3_dev", "own", "runs_dev")
LOGS = "logs"  # further public logs, about which no truth is known


@dataclass(frozen=True, slots=True)
class Place:
    """One run, by the name of its set and folder."""

    name: str
    job: backtest.Job | None  # None: no truth is known
    folder: str


@dataclass(frozen=True, slots=True)
class Look:
    """What was said of a run at a share of its length."""

    share: float
    step: float  # as the score counts
    kept: float | None  # the step to keep, as the score counts
    reading: Reading


@dataclass(frozen=True, slots=True)
class Whole:
    """A run at every look."""

    name: str
    scored: bool
    looks: tuple[Look, ...]


def places(sets: Sequence[str], every: int = 1) -> list[Place]:
    """Every run at hand."""
    found = []
    for name in (name for name in sets if name != LOGS):
        for run, job in backtest.everything(name)[::every]:
            found.append(Place(run.id, job, run.folder))
    if LOGS not in sets:
        return found
    logs = backtest_sets.logs()[::every]
    return found + [Place(f"{LOGS}/{path.parent.name}/{path.name}", None, str(path)) for path in logs]


def read_at_every_look(place: Place, folder: Path) -> str:
    """Reads one run, keeps what was said, and returns where."""
    looks = []
    try:
        run, clock = place.job.open() if place.job else _unscored(place.folder)
    except LeadlineError:
        return ""  # of the further logs some hold nothing that can be read: bench/sources.py counts them
    first, last = clock.theirs
    for share in LOOKS:
        step = last if share == 1 else round(first + share * (last - first))
        reading = read_run(run.until(clock.ours_at(step)), budget=clock.planned, charts="main")
        best = reading.judgement.best_checkpoint
        kept = None if best is None else clock.theirs_at(best.step)
        looks.append(Look(share, step, kept, replace(reading, chart_data=ChartData())))
    out = folder / (place.name.replace("/", "__") + ".pickle")
    out.write_bytes(pickle.dumps(Whole(place.name, place.job is not None, tuple(looks))))
    return out.name


def _unscored(folder: str) -> tuple[backtest.Run, backtest.Clock]:
    run = open_run(folder)
    steps = [int(step) for series in run.series for step in series.steps[[0, -1]] if series.points]
    ends = (float(min(steps)), float(max(steps))) if steps else (0.0, 0.0)
    return run, backtest.Clock(ends, ends)


def read_all(folder: Path, sets: Sequence[str], every: int, processes: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in sets:
        for old in folder.glob(f"{name}__*.pickle"):
            old.unlink()
    began, wanted = time.time(), places(sets, every)
    with ProcessPoolExecutor(processes) as pool:
        for number, _ in enumerate(pool.map(partial(read_at_every_look, folder=folder), wanted), 1):
            print(f"\r{number}/{len(wanted)} in {time.time() - began:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def kept(folder: Path) -> Iterator[Whole]:
    """What an earlier pass said, run by run."""
    for path in sorted(folder.glob("*.pickle")):
        yield pickle.loads(path.read_bytes())


def main(says: str | None, tables: Callable[[Iterator[Whole]], Sequence[Table]], argv: Sequence[str] | None) -> int:
    """The command line of a bench over whole runs: `tables` makes its figures of what was said."""
    parser = argparse.ArgumentParser(description=says)
    parser.add_argument("--out", type=Path, default=backtest.ROOT / "bench" / "out" / "whole_runs")
    parser.add_argument("--cached", action="store_true", help="use the readings that --out holds")
    parser.add_argument("--sets", nargs="*", default=[*SCORED, LOGS])
    parser.add_argument("--every", type=int, default=1, help="read every N-th run of each set")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    if not arguments.cached:
        if not backtest.SHARED.exists():
            print(f"nothing to read: {backtest.SHARED} is not on this machine")
            return 0
        read_all(arguments.out, arguments.sets, arguments.every, arguments.processes)
    print("\n".join(table.text() for table in tables(kept(arguments.out))))
    return 0
