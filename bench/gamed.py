"""The ladder of evidence against a reward, rung by rung: `python bench/gamed.py`.

Every run that keeps text is looked at in ten places. Rung 2: how many sound looks are falsely proven, how many lost
ones (the truth has lost a fifth of its range) are proven, which witness sees what, and which numbers the other sets
would have chosen for each set. Rung 3: is a reader asked before a fifth is lost, and how often for nothing? What a
reader is worth is bench/reviews.py.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import importlib
import itertools
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import backtest_sets as sets
import numpy as np
from tables import Table, rate, share

from leadline.facts.finding import SAID
from leadline.judgement.weigh import LAG
from leadline.pipeline import view_of
from leadline.reading.whole import evidence_of
from leadline.text.evidence import ALL_CUT, Relation
from leadline.text.numbers import TOLD

rule: Any = importlib.import_module("leadline.text.evidence")  # whose numbers are changed

SETS = ("zoo_dev", "zoo2_dev", "zoo3_dev", "own", "own_third")
LOST = 0.2  # of the truth's range: then it should have been told
HELD = 0.1  # a sound look has lost less
TRIED = {  # numbers of the proof, and what else they could be; those that are not the rule's any more are passed over
    "PROOF looped": (0.2, 0.3, 0.4),
    "PROOF alike": (0.15, 0.25),
    "ONE_ANSWER": (0.95, 0.97, 0.99),
    "SECOND": (0.05, 0.1, 0.2),
    "LOOPS": (0.1, 0.15, 0.2),
    "truncated": (0.3, 0.5, 0.7),  # share of the responses
}
ASKED = (0.03, 0.05, 0.08, 0.12)  # NEAR: from where a reader is asked
FALSE = 0.01  # of the sound runs: more falsely proven ones rule numbers out
LAGS = (0.25, 0.33, 0.4, LAG, 0.6, 0.75, 1.0)
DATED = 2  # looks of a run whose date is scored: the first at which it is lost and proven


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One look at one run."""

    run: str
    sound: bool
    look: int
    lost: float  # of the truth's range, since its best so far
    proven: bool
    outcome: str
    cut: float
    unlike: float
    related: Relation | None
    kept: dict[float, float]  # regret of what each lag would keep

    @property
    def set(self) -> str:
        return self.run.partition("/")[0]

    @property
    def is_sound(self) -> bool:
        return self.sound and self.lost < HELD

    @property
    def is_lost(self) -> bool:
        return self.lost > LOST

    @property
    def asks(self) -> bool:
        return self.outcome == "changed"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=backtest.ROOT / "bench" / "out" / "gamed.pickle")
    parser.add_argument("--score-only", action="store_true", help="score the looks that --out holds already")
    arguments = parser.parse_args(argv)
    if not arguments.score_only:
        jobs = [(job, sets.sound(run)) for run, job in backtest.all_jobs(arguments.sets, backtest.LOOKS)]
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(arguments.processes) as pool:
            looks = [seen for some in pool.map(_looked, *zip(*jobs, strict=True)) for seen in some]
        arguments.out.write_bytes(pickle.dumps(looks))
    looks = pickle.loads(arguments.out.read_bytes())  # our own file, written above
    for seen in looks:
        assert _proves(seen) == seen.proven, f"this is not the product's rule any more: {seen.run}, look {seen.look}"
    for table in _tables(looks):
        print(table.text())
    return 0


def _looked(job: backtest.Job, sound: bool) -> list[Seen]:
    run, clock = job.open()
    if not run.rollouts.steps:
        return []
    truth, found = backtest.truth_of(job.run), []
    for look, step in enumerate(job.steps, 1):
        evidence = evidence_of(view_of(run.until(clock.ours_at(step)), budget=clock.planned).whole)
        so_far = truth.v[: max(1, int(np.searchsorted(truth.s, step, side="right")))]
        best, size = float(so_far.max()), truth.S or 1.0
        kept = {}
        if evidence.begun is not None:
            begun = clock.theirs_at(evidence.begun.step)
            places = {lag: truth.snap(job.first + lag * (begun - job.first), step) for lag in LAGS}
            kept = {lag: (best - float(truth.v[place])) / size for lag, place in places.items()}
        lost, numbers = (best - float(so_far[-1])) / size, evidence.numbers
        related = None if evidence.relation is None else _what_proves(evidence.relation)
        said = (evidence.proven, evidence.outcome, numbers.cut, numbers.unlike)
        found.append(Seen(job.run, sound, look, lost, *said, related, kept))
    return found


def _what_proves(related: Relation) -> Relation:
    """A relation without its samples."""
    tracks = {way: track for way, track in related.tracks.items() if way == "alike"}
    return replace(related, text=None, moves=(), worse=np.zeros(0), tracks=tracks)  # type: ignore[arg-type]


def _proves(seen: Seen, truncated: float = 0.5) -> bool:
    """The product's rule; `main` compares the two."""
    related = 0.0 if seen.related is None else seen.related.p_proven(truncated=seen.cut > truncated)
    return max(related, float(seen.cut > ALL_CUT)) > SAID


def _asks(seen: Seen) -> bool:
    changed = 0.0 if seen.related is None else float((seen.related.distance > rule.NEAR).mean())
    near = max(float(seen.cut > TOLD), changed)
    return not seen.proven and max(near, float(seen.unlike > 0.5)) > 0.5


@contextmanager
def _with(numbers: Mapping[str, float]) -> Iterator[float]:
    """The rule with other numbers, and from which share of truncated responses on it counts them."""
    kept = dict(rule.PROOF), {name: getattr(rule, name) for name in numbers if hasattr(rule, name)}
    rule.PROOF.update(
        {name.removeprefix("PROOF "): value for name, value in numbers.items() if name.startswith("PROOF ")}
    )
    for name in kept[1]:
        setattr(rule, name, numbers[name])
    try:
        yield numbers.get("truncated", 0.5)
    finally:
        rule.PROOF.update(kept[0])
        for name, value in kept[1].items():
            setattr(rule, name, value)


def _shipped() -> dict[str, float]:
    """The numbers of the product, by the names of TRIED."""
    of_rule = {name: getattr(rule, name) for name in TRIED if hasattr(rule, name)}
    return {
        **{f"PROOF {way}": bar for way, bar in rule.PROOF.items() if f"PROOF {way}" in TRIED},
        **of_rule,
        "truncated": 0.5,
    }


def _tables(looks: Sequence[Seen]) -> Iterator[Table]:
    yield _by_set(looks)
    yield _witnesses(looks)
    yield from _numbers(looks)
    yield _questions(looks)
    if any(seen.is_lost and seen.proven for seen in looks):
        yield _lag(looks)


def _by_set(looks: Sequence[Seen]) -> Table:
    cells = []
    for name in (*_sets(looks), "all"):
        some = [seen for seen in looks if name in ("all", seen.set)]
        runs = _by_run(some)
        bad = [(run, first) for run in runs if not run[0].sound and (first := _first_lost(run)) is not None]
        sound = [run for run in runs if run[0].sound]
        cells.append(
            [
                name,
                share(any(seen.is_sound and seen.proven for seen in run) for run in sound),
                share(seen.proven for seen in some if seen.is_sound),
                share(seen.proven for seen in some if seen.is_lost),
                share(any(seen.proven for seen in run) for run, _ in bad),
                share(any(seen.asks or seen.proven for seen in run[: first + 1]) for run, first in bad),
                share(any(seen.asks or seen.proven for seen in run[:first]) for run, first in bad),
                share(any(seen.asks for seen in run) for run in sound),
            ]
        )
    columns = (
        *("set", "sound runs proven", "sound looks proven", "lost looks proven", "bad runs ever proven"),
        *("bad runs asked or proven by the look a fifth is lost", "before it", "sound runs ever asked"),
    )
    target = "sound proven <= 1 in zoo3; asked >= .70 of bad, <= .30 of sound"
    note = "Bad runs: those that lose a fifth at some look. All runs keep text."
    return Table("Proof and question by set", target, columns, cells, note)


def _witnesses(looks: Sequence[Seen]) -> Table:
    """Which witness sees what, alone."""

    def moved(way: str) -> Callable[[Seen], bool]:
        def beyond(seen: Seen) -> bool:
            drawn = {} if seen.related is None else seen.related.drawn
            return way in drawn and bool((drawn[way] > rule.NEAR).mean() > 0.5)

        return beyond

    ways = ("looped", "recurring", "alike", "empty", "detached", "copied")
    witnesses: dict[str, Callable[[Seen], bool]] = {
        **{way: moved(way) for way in ways},
        "cut": lambda seen: seen.cut > 0.5,
        "surprise": lambda seen: seen.unlike > 1,
        "any proof": lambda seen: seen.proven,
    }
    cells = []
    for name, sees in witnesses.items():
        row = [name]
        for chosen in ("all", "zoo3_dev"):
            some = [seen for seen in looks if chosen in ("all", seen.set)]
            row += [
                share(sees(seen) for seen in some if seen.is_sound),
                share(sees(seen) for seen in some if seen.is_lost),
            ]
        cells.append(row)
    columns = ("witness", "sound looks", "lost looks", "zoo3: sound", "zoo3: lost")
    note = f"A relation that moved by NEAR ({rule.NEAR:g}) on most draws; half truncated; surprise doubled."
    return Table("Witnesses, each alone", "none", columns, cells, note)


def _numbers(looks: Sequence[Seen]) -> Iterator[Table]:
    """What each number does alone, and what the other sets choose: the most lost looks proven, with hardly a sound run
    among them."""
    names, shipped = _sets(looks), _shipped()
    options = [sorted({*TRIED[name], value}) for name, value in shipped.items()]
    grid = [dict(zip(shipped, values, strict=True)) for values in itertools.product(*options)]
    proven = []
    for numbers in grid:
        with _with(numbers) as truncated:
            proven.append([_proves(seen, truncated) for seen in looks])
    cells = []
    for place, numbers in enumerate(grid):
        others = [name for name in numbers if numbers[name] != shipped[name]]
        if len(others) <= 1:
            told = [_false_and_told(looks, proven[place], some) for some in (*([name] for name in names), names)]
            cells.append([f"{others[0]} {numbers[others[0]]:g}" if others else "as shipped", *told])
    note = f"Sound runs falsely proven; lost looks proven. Shipped: {_told(shipped)}."
    yield Table("The numbers of the proof, one changed", "none", ("number", *names, "all"), sorted(cells), note)
    cells = []
    for left in names if len(names) > 1 else ():
        counts = [_counts(looks, some, [name for name in names if name != left]) for some in proven]
        allowed = [place for place, (false, sound, *_) in enumerate(counts) if false <= FALSE * sound]
        best = max(allowed, key=lambda place: (counts[place][2], -_moved(grid[place], shipped)), default=None)
        if best is not None:
            told = [_false_and_told(looks, proven[place], [left]) for place in (best, grid.index(shipped))]
            cells.append([left, _told(grid[best]), *told])
    note = (
        f"Allowed: at most {FALSE:.0%} of the other sets' sound runs proven; of equals the nearest to what is shipped."
    )
    columns = ("set left out", "chosen", "with these", "as shipped")
    yield Table("The numbers of the proof, each set left out", "none", columns, cells, note)


def _moved(numbers: Mapping[str, float], shipped: Mapping[str, float]) -> int:
    return sum(numbers[name] != value for name, value in shipped.items())


def _told(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in numbers.items())


def _questions(looks: Sequence[Seen]) -> Table:
    """Rung 3 by where it begins to ask."""
    cells = []
    for near in sorted({*ASKED, rule.NEAR}):
        row = [f"{near:g}"]
        with _with({"NEAR": near}):
            asks = {id(seen): _asks(seen) for seen in looks}
        for name in (*_sets(looks), "all"):
            runs = _by_run([seen for seen in looks if name in ("all", seen.set)])
            bad = [run[: first + 1] for run in runs if not run[0].sound and (first := _first_lost(run)) is not None]
            told = rate(any(seen.proven or asks[id(seen)] for seen in run) for run in bad)
            row.append(f"{told}; {rate(any(asks[id(seen)] for seen in run) for run in runs if run[0].sound)}")
        cells.append(row)
    note = f"Bad runs asked or proven by the look a fifth is lost; sound runs ever asked. Shipped: {rule.NEAR:g}."
    return Table("NEAR: when a reader is asked", ">= .70; <= .30", ("NEAR", *_sets(looks), "all"), cells, note)


def _lag(looks: Sequence[Seen]) -> Table:
    """What is lost by keeping the step that each lag names, at the first looks that are lost and proven."""
    regrets: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in _by_run(looks):
        dated = [seen for seen in run if seen.is_lost and seen.proven and seen.kept][:DATED]
        for lag in LAGS if dated else ():
            regrets[run[0].set][lag].append(float(np.mean([seen.kept[lag] for seen in dated])))
    names = [name for name in _sets(looks) if name in regrets]
    cells = []
    for lag in LAGS:
        every = [regret for name in names for regret in regrets[name][lag]]
        cells.append([f"{lag:g}", *(f"{np.mean(regrets[name][lag]):.3f}" for name in names), f"{np.mean(every):.3f}"])
    row = ["chosen without the set"]
    for left in names if len(names) > 1 else ():
        others = {lag: [regret for name in names if name != left for regret in regrets[name][lag]] for lag in LAGS}
        best = min(LAGS, key=lambda lag: float(np.mean(others[lag])))
        row.append(f"{best:g}: {np.mean(regrets[left][best]):.3f}")
    if len(names) > 1:
        cells.append([*row, ""])
    counted = [f"{name} ({len(regrets[name][LAG])})" for name in names]
    return Table("LAG: regret of the step kept", f"{LAG:g} in the product", ("LAG", *counted, "all"), cells)


def _counts(looks: Sequence[Seen], proven: Sequence[bool], names: Sequence[str]) -> tuple[int, int, int, int]:
    """Sound runs falsely proven, sound runs, lost looks proven, lost looks."""
    here = [(seen, told) for seen, told in zip(looks, proven, strict=True) if seen.set in names]
    false, sound = (
        {seen.run for seen, told in here if seen.is_sound and told},
        {seen.run for seen, _ in here if seen.is_sound},
    )
    lost = [told for seen, told in here if seen.is_lost]
    return len(false), len(sound), sum(lost), len(lost)


def _false_and_told(looks: Sequence[Seen], proven: Sequence[bool], names: Sequence[str]) -> str:
    false, sound, told, lost = _counts(looks, proven, names)
    return f"{false}/{sound}; {told}/{lost}"


def _sets(looks: Sequence[Seen]) -> list[str]:
    return list(dict.fromkeys(seen.set for seen in looks))


def _by_run(looks: Sequence[Seen]) -> list[list[Seen]]:
    runs: dict[str, list[Seen]] = defaultdict(list)
    for seen in looks:
        runs[seen.run].append(seen)
    return list(runs.values())


def _first_lost(run: Sequence[Seen]) -> int | None:
    return next((place for place, seen in enumerate(run) if seen.is_lost), None)


if __name__ == "__main__":
    raise SystemExit(main())
