"""Does the past stay as it was told: `python bench/steadiness.py [--every N] [--out FILE] [--cached]`.

Runs of both zoos and of the public logs are read as they stood at 50, 60, ... 100 % of their length. What a look says
about the past (where something began, peaked or broke, since when a state holds, what it started from) is compared with
the look before it. It has moved if it lies outside the interval that the look before told, five hundredths of what had
been seen where it told none ("since about step 300"), and if nothing new can be the reason: a date after the look
before, or one that was chosen anew because the curve has passed it since. Without ../shared it says so.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import dataclasses
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
from tables import Table, share

from leadline.contract import Reading
from leadline.facts import Finding
from leadline.facts.onset import OnsetOrder
from leadline.pipeline import read_run

LOOKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ABOUT = 0.05  # of what was seen, on either side: what "about step 300" leaves open
DATES = re.compile(r"(since|begun|high|sudden|top|anchor)_step|step|since")
TARGET = 0.05


@dataclass(frozen=True, slots=True)
class Told:
    """One thing said about the past."""

    about: str  # what it is: the finding and the field
    sort: str  # onset, peak, start, since or break
    value: float
    low: float
    high: float


def told_in(reading: Reading) -> Iterator[Told]:
    """What a reading says about the past, as numbers."""
    first, last = reading.run.first_step or 0, reading.run.last_step or 0
    about = ABOUT * (last - first)
    reason, trajectory, peak = reading.judgement.reason, reading.reward.trajectory, reading.reward.peak
    if reason.since_step is not None:
        between = reason.since_between
        if reason.kind == "gamed":
            between = _begun(reading.findings)
        edges = _wider(_around(reason.since_step, about), between)
        yield Told(f"verdict.{reason.kind}", "since", reason.since_step, *edges)
    if trajectory.start is not None and trajectory.noise is not None:
        yield Told("reward.start", "start", trajectory.start, *_around(trajectory.start, trajectory.noise))
    if peak is not None and reading.reward.shape == "peaked":
        yield Told("reward.peak", "peak", peak.step, *peak.interval)
    if reading.kl_reward.since_step is not None:
        since = reading.kl_reward.since_step
        edges = _wider(_around(since, about), reading.kl_reward.since_between)
        yield Told(f"regime.{reading.kl_reward.regime}", "since", since, *edges)
    for finding in reading.findings:
        if isinstance(finding.facts, OnsetOrder):  # each series by its own date; that of the anchor is told by itself
            for tier in finding.facts.tiers:
                for name in tier.names:
                    middle = (tier.first_step + tier.last_step) / 2
                    edges = _wider(_around(middle, about), (tier.first_step, tier.last_step))
                    yield Told(f"onset.{finding.facts.anchor}.{name}", "onset", middle, *edges)
        else:
            yield from _dates(finding, about)


def _begun(findings: Sequence[Finding]) -> tuple[int, int] | None:
    """The interval that the finding of a gamed reward tells."""
    for finding in findings:
        low, high = (getattr(finding.facts, edge, None) for edge in ("begun_low", "begun_high"))
        if isinstance(low, int) and isinstance(high, int):
            return low, high
    return None


def _wider(edges: tuple[float, float], told: tuple[int, int] | None) -> tuple[float, float]:
    return edges if told is None else (min(edges[0], told[0]), max(edges[1], told[1]))


def _dates(finding: Finding, about: float) -> Iterator[Told]:
    facts = {field.name: getattr(finding.facts, field.name) for field in dataclasses.fields(finding.facts)}
    found = {name: value for name, value in facts.items() if DATES.fullmatch(name) and isinstance(value, int)}
    if finding.since_step is not None and finding.since_step not in found.values():
        found["since_step"] = finding.since_step
    for name, value in found.items():
        low, high = _around(value, about)
        for edges in (("first_step", "last_step"), ("begun_low", "begun_high")):
            if all(isinstance(facts.get(edge), int) for edge in edges) and facts[edges[0]] <= value <= facts[edges[1]]:
                low, high = _wider((low, high), (facts[edges[0]], facts[edges[1]]))
        sort = "break" if finding.id.endswith("break") or name == "sudden_step" else "onset"
        yield Told(f"{finding.id}.{name}", "peak" if name == "high_step" else sort, value, low, high)


def _around(value: float, width: float) -> tuple[float, float]:
    return value - width, value + width


def looks_at(job: backtest.Job) -> list[dict[str, Any]]:
    run, clock = job.open()
    lines = []
    for look in LOOKS:
        step = job.last if look == 1 else round(job.first + look * (job.last - job.first))
        reading = read_run(run.until(clock.ours_at(step)), budget=clock.planned, charts="main")
        told = [dataclasses.asdict(one) for one in told_in(reading)]
        lines.append({"run": job.run, "look": look, "last": reading.run.last_step, "told": told})
    return lines


def compared(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[Told, Told, bool]]:
    """What both looks say, and whether it moved without new evidence. Of several of one sort, the nearest."""
    later = [Told(**one) for one in after["told"]]
    for told in (Told(**one) for one in before["told"]):
        same = [other for other in later if other.about == told.about]
        if not same:
            continue
        now = min(same, key=lambda other: abs(other.value - told.value))
        new = told.sort != "start" and now.value >= before["last"]
        outside = not told.low <= now.value <= told.high and not now.low <= told.value <= now.high
        yield told, now, outside and not new


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=backtest.ROOT / "bench" / "out" / "steadiness.jsonl")
    parser.add_argument("--cached", action="store_true", help="use the lines that --out holds")
    parser.add_argument("--every", type=int, default=1, help="read every N-th run of each set")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    if not arguments.cached:
        if not backtest.SHARED.exists():
            print(f"nothing to read: {backtest.SHARED} is not on this machine")
            return 0
        jobs = [job for name in backtest.SETS for _, job in backtest.all_jobs([name], 10)[:: arguments.every]]
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(arguments.processes) as pool, arguments.out.open("w") as file:
            for found in pool.map(looks_at, jobs):
                file.writelines(json.dumps(line) + "\n" for line in found)
    print("\n".join(table.text() for table in tables(arguments.out)))
    return 0


def tables(out: Path) -> list[Table]:
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in map(json.loads, out.read_text().splitlines()):
        runs[line["run"]].append(line)
    by_sort: dict[tuple[str, str], list[bool]] = defaultdict(list)
    by_fact: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    for name, lines in runs.items():
        for before, after in pairwise(sorted(lines, key=lambda line: float(line["look"]))):
            for told, now, moved in compared(before, after):
                by_sort[name.split("/")[0], told.sort].append(moved)
                where = f"{name.split('/')[-1]}@{after['look']:g}: {told.value:.4g} -> {now.value:.4g}"
                by_fact[told.about].append((moved, where))
    names = sorted({name for name, _ in by_sort})
    sorts = ("start", "peak", "onset", "since", "break")
    rows = [[sort, *(share(by_sort[name, sort]) for name in names)] for sort in sorts]
    rows.append(["all", *(share(hit for sort in sorts for hit in by_sort[name, sort]) for name in names)])
    facts = [
        [about, share(moved for moved, _ in hits), ", ".join(where for moved, where in hits if moved)[:110]]
        for about, hits in sorted(by_fact.items(), key=lambda item: -sum(moved for moved, _ in item[1]))
        if any(moved for moved, _ in hits)
    ]
    return [
        Table("Said about the past, moved at the next look", f"< {TARGET}", ["", *names], rows),
        Table("By fact", f"< {TARGET}", ["fact", "moved", "where"], facts),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
