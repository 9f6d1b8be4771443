"""Does the past stay as it was told: `python bench/steadiness.py [--sets NAME ...] [--every N] [--cached]`.

Every run at hand is read as it stood at 50, 60, ... 100 % of its length (bench/whole_runs.py). What a look says of the
past (where something began, peaked or broke, since when a state holds, what it started from) is compared with the look
before it. It has moved if neither look's interval holds what the other says, and if nothing new can be the reason: a
date after the look before. Where no interval is told ("since about step 300") five hundredths of what had been seen are
granted. Wide intervals are a cheap way to be steady, so their width stands beside it, and what would have moved had
only the point been told, or the point with the five hundredths. Without ../shared it says so.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
import whole_runs
from tables import Table, share
from whole_runs import Look, Whole

from leadline.contract import Reading
from leadline.facts.finding import Finding
from leadline.findings.timeline_order import OnsetOrder

FIRST = 0.5  # of the run: the first look that is compared
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
        edges = _wider(_around(reason.since_step, about), reason.since_between)
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


@dataclass(frozen=True, slots=True)
class Pair:
    """One thing as two looks in a row tell it."""

    told: Told
    now: Told | None  # None: it is told no longer
    seen: int  # last step of the look before
    length: float  # of what had been seen then

    @property
    def new(self) -> bool:
        """It is told of what came after the look before."""
        return self.now is not None and self.told.sort != "start" and self.now.value >= self.seen

    @property
    def apart(self) -> float:
        return 0.0 if self.now is None or self.new else abs(self.now.value - self.told.value)

    @property
    def moved(self) -> bool:
        if self.now is None or self.new:
            return False
        inside = self.told.low <= self.now.value <= self.told.high or self.now.low <= self.told.value <= self.now.high
        return not inside

    @property
    def width(self) -> float:
        return (self.told.high - self.told.low) / max(self.length, 1)


def compared(before: Look, after: Look) -> Iterator[Pair]:
    """What the look before says, beside what the next one says of it. Of several of one sort, the nearest."""
    later = list(told_in(after.reading))
    last = before.reading.run.last_step or 0
    length = last - (before.reading.run.first_step or 0)
    for told in told_in(before.reading):
        same = [other for other in later if other.about == told.about]
        now = min(same, key=lambda other: abs(other.value - told.value)) if same else None
        yield Pair(told, now, last, length)


def tables(runs: Iterator[Whole]) -> list[Table]:
    by_set: dict[str, list[Pair]] = defaultdict(list)
    by_fact: dict[str, list[tuple[Pair, str]]] = defaultdict(list)
    for run in runs:
        looks = [look for look in run.looks if look.share >= FIRST]
        for before, after in pairwise(looks):
            for pair in compared(before, after):
                by_set[run.name.split("/")[0]].append(pair)
                now = "" if pair.now is None else f" -> {pair.now.value:.4g}"
                where = f"{run.name.split('/')[-1]}@{after.share:g}: {pair.told.value:.4g}{now}"
                by_fact[pair.told.about].append((pair, where))
    everything = [pair for pairs in by_set.values() for pair in pairs]
    rows = [_row(sort, [pair for pair in everything if pair.told.sort == sort]) for sort in SORTS]
    rows += [_row(name, pairs) for name, pairs in by_set.items()]
    rows.append(_row("all", everything))
    facts = [
        [*_row(about, [pair for pair, _ in pairs]), ", ".join(where for pair, where in pairs if pair.moved)[:110]]
        for about, pairs in sorted(by_fact.items(), key=lambda item: -sum(pair.moved for pair, _ in item[1]))
        if any(pair.moved for pair, _ in pairs)
    ]
    target = f"moved < {TARGET}"
    return [
        Table("Said about the past, moved at the next look", target, COLUMNS, rows),
        Table("By fact", target, [*COLUMNS, "where"], facts),
    ]


SORTS = ("start", "peak", "onset", "since", "break")
COLUMNS = ["", "moved", "width, median", "width, 9 of 10", "point alone", "point +- 5 %", "told no longer"]


def _row(name: str, pairs: Sequence[Pair]) -> list[str]:
    kept = [pair for pair in pairs if pair.now is not None]
    dates = [pair for pair in kept if pair.told.sort != "start"]
    widths = [pair.width for pair in dates]
    return [
        name,
        share(pair.moved for pair in kept),
        f"{np.median(widths):.2f}" if widths else "-",
        f"{np.quantile(widths, 0.9):.2f}" if widths else "-",
        share(pair.apart > 0 for pair in dates),
        share(pair.apart > ABOUT * pair.length for pair in dates),
        share(pair.now is None for pair in pairs),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    return whole_runs.main(__doc__, tables, argv)


if __name__ == "__main__":
    raise SystemExit(main())
