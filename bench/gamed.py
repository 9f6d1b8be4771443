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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import backtest_sets as sets
import numpy as np
from numpy.typing import NDArray
from tables import Table, share

from leadline.evidence import TRUNCATED, GamedEvidence
from leadline.evidence.relation import ASKS_ONLY, FAR, NEAR
from leadline.judgement.evidence import LAG
from leadline.pipeline import view_of
from leadline.questions.bars import EVEN, SAID
from leadline.reading import View
from leadline.reading.gamed import evidence_of

relation: Any = importlib.import_module(
    "leadline.evidence.relation"
)  # the module: its package has a function of the name

SETS = ("zoo_dev", "zoo2_dev", "zoo3_dev", "own", "own_third")
LOST = 0.2  # of the truth's range: then it should have been told
HELD = 0.1  # a sound look has lost less
REPEATS = ("looped", "recurring")  # of one decay
Numbers = tuple[float, float, float, float]  # NEAR, FAR, and from where truncation and surprise second a witness
GRID: tuple[Numbers, ...] = tuple(
    (near, far, *second)
    for near, far, second in itertools.product(
        (0.03, NEAR, 0.07, 0.1), (0.12, FAR, 0.2, 0.25), ((0.3, 0.5), (EVEN, 0.5), (EVEN, 1.0), (0.7, 2.0))
    )
)
SHIPPED: Numbers = (NEAR, FAR, EVEN, 1.0)
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
    drawn: dict[str, NDArray[np.float64]]  # how far each relation moved, on every draw
    kept: dict[float, float] = field(default_factory=dict)  # regret of what each lag would keep

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
        assert _proves(seen, SHIPPED) == seen.proven, (
            f"the grid is not the product's rule: {seen.run}, look {seen.look}"
        )
    for table in _tables(looks):
        print(table.text())
    return 0


def _looked(job: backtest.Job, sound: bool) -> list[Seen]:
    run, clock = job.open()
    if not run.rollouts.steps:
        return []
    truth, found = backtest.truth_of(job.run), []
    for look, step in enumerate(job.steps, 1):
        view = view_of(run.until(clock.ours_at(step)), budget=clock.planned)
        evidence, drawn = _gathered(view)
        so_far = truth.v[: max(1, int(np.searchsorted(truth.s, step, side="right")))]
        best, size = float(so_far.max()), truth.S or 1.0
        kept = {}
        if evidence.begun is not None:
            begun = clock.theirs_at(evidence.begun.step)
            places = {lag: truth.snap(job.first + lag * (begun - job.first), step) for lag in LAGS}
            kept = {lag: (best - float(truth.v[place])) / size for lag, place in places.items()}
        lost = (best - float(so_far[-1])) / size
        numbers = evidence.numbers
        found.append(
            Seen(job.run, sound, look, lost, evidence.p > 0, evidence.outcome, numbers.cut, numbers.unlike, drawn, kept)
        )
    return found


def _gathered(view: View) -> tuple[GamedEvidence, dict[str, NDArray[np.float64]]]:
    """The evidence of a look, and the draws that it was weighed by, as they pass through the package."""
    kept: dict[str, NDArray[np.float64]] = {}
    weighed = relation._shift

    def seen(written: Any, sides: Any, drawn: Any) -> Any:
        kept.update(drawn)
        return weighed(written, sides, drawn)

    relation._shift = seen
    try:
        return evidence_of(view), kept
    finally:
        relation._shift = weighed


def _proves(seen: Seen, numbers: Numbers) -> bool:
    """The product's rule by other numbers; `main` compares the two."""
    near, far, cut, surprise = numbers
    beside = TRUNCATED * far / FAR * seen.cut
    seconded = int(seen.cut > cut) + int(seen.unlike > surprise)
    if not seen.drawn:
        return beside > far or seconded > 1
    certain = [draws for way, draws in seen.drawn.items() if way not in ASKS_ONLY]
    distance = np.sqrt(np.sum(np.square([*certain, np.full_like(certain[0], beside)]), axis=0))
    others = [draws for way, draws in seen.drawn.items() if way not in REPEATS]
    repeats = np.max([seen.drawn[way] for way in REPEATS if way in seen.drawn], axis=0)
    witnesses = np.sum([draws > near for draws in (repeats, *others)], axis=0)
    return bool(((distance > far) | ((witnesses > 0) & (witnesses + seconded > 1))).mean() > SAID)


def _tables(looks: Sequence[Seen]) -> Iterator[Table]:
    yield _by_set(looks)
    yield _witnesses(looks)
    proven = {numbers: [_proves(seen, numbers) for seen in looks] for numbers in GRID}
    yield _grid(looks, proven)
    yield _numbers_left_out(looks, proven)
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
        return lambda seen: way in seen.drawn and bool((seen.drawn[way] > NEAR).mean() > EVEN)

    ways = ("looped", "recurring", "alike", "detached", "copied", "unseen")
    witnesses: dict[str, Callable[[Seen], bool]] = {
        **{way: moved(way) for way in ways},
        "cut": lambda seen: seen.cut > EVEN,
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
    note = f"A relation that moved by NEAR ({NEAR:g}) on most draws; half truncated; surprise doubled."
    return Table("Witnesses, each alone", "none", columns, cells, note)


def _grid(looks: Sequence[Seen], proven: dict[Numbers, list[bool]]) -> Table:
    names = _sets(looks)
    cells = []
    for numbers in GRID:
        if numbers[2:] == SHIPPED[2:] or numbers[:2] == SHIPPED[:2]:
            told = [_false_and_told(looks, proven[numbers], [name]) for name in names]
            cells.append([*(f"{one:g}" for one in numbers), *told, _false_and_told(looks, proven[numbers], names)])
    columns = ("NEAR", "FAR", "cut", "surprise", *names, "all")
    return Table("The numbers of the proof", "none", columns, cells, "Sound runs falsely proven; lost looks proven.")


def _numbers_left_out(looks: Sequence[Seen], proven: dict[Numbers, list[bool]]) -> Table:
    """What the other sets choose: the most lost looks proven, with hardly a sound run among them."""
    cells = []
    names = _sets(looks)
    for left in names:
        rest = [name for name in names if name != left]
        counts = {numbers: _counts(looks, proven[numbers], rest) for numbers in GRID}
        allowed = [numbers for numbers, (false, sound, *_) in counts.items() if false <= FALSE * sound]
        if rest and allowed:
            best = max(allowed, key=lambda numbers: (counts[numbers][2], -numbers[0]))
            told = [_false_and_told(looks, proven[numbers], [left]) for numbers in (best, SHIPPED)]
            cells.append([left, " ".join(f"{one:g}" for one in best), *told])
    columns = ("set left out", "NEAR FAR cut surprise chosen", "with these", "as shipped")
    shipped = " ".join(f"{one:g}" for one in SHIPPED)
    note = f"Shipped: {shipped}. Allowed: at most {FALSE:.0%} of the other sets' sound runs proven."
    return Table("The numbers of the proof, each set left out", "none", columns, cells, note)


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
