"""Is the loud told, and told again: `python bench/loudly.py [--draws N] [--seed S]`.

What nobody could overlook in a raw log is put into simulated runs and into the runs of ../shared/zoo: one enormous KL,
a gradient norm many times its usual, an entropy of exactly 0, answers that are all cut off, a reward that ends on one
number, groups that are nearly all tied, references that are reset. Place, size and length are drawn anew. Each is read
at the row of the event, a few rows later, and on to the end of the log.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.random import Generator

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from shapes import log_uniform
from simulate import Array, autoregressive
from tables import Table, share

from leadline.facts.finding import Finding
from leadline.findings import found_in
from leadline.findings.kl_reset import KlReset
from leadline.findings.reward_fall import RewardFall
from leadline.findings.signal_no_learning_signal import MostlyTied
from leadline.findings.stability_spike import Spikes
from leadline.findings.stability_stuck import StuckSeries
from leadline.plan import plan_of
from leadline.reading.view import View
from leadline.run import Config, Rollouts, Run, Series
from leadline.sources import open_run

ZOO = Path(__file__).resolve().parent.parent.parent / "shared" / "zoo"
LATER = (0, 2, 6, 15, 60, 10**9)  # rows after the event at which it is read


def sound(rng: Generator) -> Run:
    """A run that learns, of 40 to 1000 steps."""
    count = round(log_uniform(rng, 40, 1000))
    u, steps = np.arange(1, count + 1) / count, np.arange(1, count + 1)
    spread = rng.uniform(0.05, 0.4)
    columns = {
        "reward/mean": 0.2 + 0.6 * -np.expm1(-3 * u) + rng.uniform(0.01, 0.08) * autoregressive(count, 0.3, rng),
        "kl/ref": 0.05 * u * np.exp(spread * rng.standard_normal(count)),
        "grad_norm": rng.uniform(0.1, 3) * np.exp(spread * autoregressive(count, 0.3, rng)),
        "entropy": np.exp(-u) * np.exp(0.05 * rng.standard_normal(count)),
        "len/response_mean": 200 + 20 * u + 5 * rng.standard_normal(count),
        "len/response_clip_frac": np.clip(0.05 + 0.03 * rng.standard_normal(count), 0, 1),
        "group/zero_std_frac": np.clip(0.2 + 0.1 * rng.standard_normal(count), 0, 1),
    }
    series = tuple(Series(name, name, "", steps, values) for name, values in columns.items())
    return Run("simulated", series=series, config=Config(planned_steps=count))


def real() -> list[Run]:
    """The runs of the zoo that are long enough, without their samples."""
    runs = []
    for path in sorted(ZOO.glob("*-*")) if ZOO.exists() else ():
        run = open_run(path)
        if (series := run.get("reward/mean")) is not None and series.points >= 60:
            runs.append(replace(run, rollouts=Rollouts()))
    return runs


def changed(run: Run, name: str, change: Callable[[Array], Array]) -> Run:
    new = [
        replace(series, values=change(series.values.copy())) if series.name == name else series for series in run.series
    ]
    return replace(run, series=tuple(new))


Damage = Callable[[Run, Generator], tuple[Run, int] | None]  # the run, and the row of the event


def place_in(series: Series, rng: Generator, first: int = 20) -> int:
    return int(rng.integers(first, max(series.points - 1, first + 1)))


def spiked(name: str, low: float, high: float) -> Damage:
    def damage(run: Run, rng: Generator) -> tuple[Run, int] | None:
        series = run.get(name)
        if series is None or series.points < 40 or not (series.values > 0).any():
            return None
        place = place_in(series, rng)

        def put(values: Array) -> Array:
            values[place] = log_uniform(rng, low, high) * np.median(values[: place + 1][values[: place + 1] > 0])
            return values

        return changed(run, name, put), place

    return damage


def one_kl(run: Run, rng: Generator) -> tuple[Run, int] | None:
    series = run.get("kl/ref")
    if series is None or series.points < 40:
        return None
    place = place_in(series, rng)
    return changed(run, "kl/ref", lambda values: np.where(np.arange(len(values)) == place, 1e5, values)), place


def no_entropy(run: Run, rng: Generator) -> tuple[Run, int] | None:
    series = run.get("entropy")
    if series is None or series.points < 40:
        return None
    place = place_in(series, rng, 4)
    return changed(run, "entropy", lambda values: np.where(np.arange(len(values)) < place, values, 0.0)), place


def cut_off(run: Run, rng: Generator) -> tuple[Run, int] | None:
    series = run.get("len/response_clip_frac")
    return None if series is None else (changed(run, series.name, np.ones_like), 6)


def ends_on_one(run: Run, rng: Generator) -> tuple[Run, int] | None:
    series = run.get("reward/mean")
    if series is None or series.points < 40:
        return None
    place, level = place_in(series, rng), rng.choice([-5.0, 0.0])
    return changed(run, "reward/mean", lambda values: np.where(np.arange(len(values)) < place, values, level)), place


def tied(run: Run, rng: Generator) -> tuple[Run, int] | None:
    """Nearly every group, from some row on; a few of a step are not."""
    series = run.get("group/zero_std_frac")
    if series is None or series.points < 40:
        return None
    place = place_in(series, rng)
    share_of_step = 1 - rng.binomial(128, 0.01, series.points) / 128
    return changed(run, series.name, lambda old: np.where(np.arange(len(old)) < place, old, share_of_step)), place


def reset(nth: int) -> Damage:
    def damage(run: Run, rng: Generator) -> tuple[Run, int] | None:
        """KL that starts anew, once or twice, and grows as it did."""
        series = run.get("kl/ref")
        if series is None or series.points < 60 or not (series.values[series.finite] > 0).all():
            return None
        every = int(series.points * rng.uniform(0.25, 0.3 if nth == 2 else 0.6))
        rows = np.arange(series.points)
        grown = np.interp(rows % every, np.arange(every), np.linspace(0.02, 1, every) ** rng.uniform(0.7, 1.5))
        scatter = np.exp(rng.uniform(0.05, 0.3) * rng.standard_normal(series.points))
        values = float(np.median(series.values)) * grown * scatter
        until = run.until(int(series.steps[min((nth + 1) * every, series.points) - 1]))
        events = tuple(event for event in run.events if event.kind != "reference_reset")
        return replace(changed(until, "kl/ref", lambda old: values[: len(old)]), events=events), nth * every

    return damage


def findings_of(run: Run) -> Iterator[Finding]:
    yield from found_in(View(run, plan_of(run, run.config.planned_steps)))


def told(kind: str, run: Run, step: int) -> bool:
    """Whether what happened at a step is told."""
    for found in findings_of(run):
        facts, name = found.facts, found.id
        if kind in (
            "KL of 1e5",
            "KL x100 or more",
            "gradient x125",
            "gradient x125 for 3",
            "gradient x125 from there on",
        ):
            series = "kl/ref" if kind.startswith("KL") else "grad_norm"
            if isinstance(facts, Spikes) and any(value.series == series for value in facts.series):
                return True
            if name == "stability.grad_norm" and series == "grad_norm":
                return True
        stuck = isinstance(facts, StuckSeries) and {value.series for value in facts.series}
        if kind == "entropy 0" and (name == "signal.no_entropy" or (stuck and "entropy" in stuck)):
            return True
        if kind == "all cut off" and "truncat" in name + type(facts).__name__.lower():
            return True
        if kind == "reward ends on one" and (
            (stuck and "reward/mean" in stuck) or (isinstance(facts, RewardFall)) or name == "reward.break"
        ):
            return True
        if kind == "tied 99 %" and (name == "signal.no_learning_signal" or isinstance(facts, MostlyTied)):
            return True
        if kind.endswith("reset") and isinstance(facts, KlReset):
            return any(abs(reset - step) <= max(2, 0.03 * (run.last_step or 1)) for reset in facts.steps)
    return False


def multiplied(rows: int) -> Damage:
    def damage(run: Run, rng: Generator) -> tuple[Run, int] | None:
        series = run.get("grad_norm")
        if series is None or series.points < 40:
            return None
        place = place_in(series, rng)
        row = np.arange(series.points)
        factor = np.where((row >= place) & (row < place + rows), 125, 1)
        return changed(run, "grad_norm", lambda values: values * factor), place

    return damage


KINDS: dict[str, Damage] = {
    "KL of 1e5": one_kl,
    "KL x100 or more": spiked("kl/ref", 100, 1e7),
    "gradient x125": spiked("grad_norm", 100, 500),
    "gradient x125 for 3": multiplied(3),
    "gradient x125 from there on": multiplied(10**9),
    "entropy 0": no_entropy,
    "all cut off": cut_off,
    "reward ends on one": ends_on_one,
    "tied 99 %": tied,
    "first reset": reset(1),
    "second reset": reset(2),
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(KINDS))
    parser.add_argument("--missed", action="store_true", help="name what was not told")
    arguments = parser.parse_args(argv)
    zoo, hits = real(), defaultdict[tuple[str, int], list[bool]](list)
    for place, (kind, damage) in enumerate(KINDS.items()):
        for draw in range(arguments.draws if kind in arguments.only else 0):
            rng = np.random.default_rng((arguments.seed, place, draw))
            base = zoo[int(rng.integers(len(zoo)))] if zoo and draw % 2 else sound(rng)
            made = damage(base, rng)
            if made is None:
                continue
            run, row = made
            steps = run.series[0].steps if kind in ("all cut off",) else None
            name = {"e": "entropy", "K": "kl/ref", "g": "grad_norm", "r": "reward/mean", "t": "group/zero_std_frac"}
            series = run.get("kl/ref" if kind.endswith("reset") else name.get(kind[0], "reward/mean"))
            steps = series.steps if series is not None else steps
            if steps is None:
                continue
            rows = sorted({min(row + later, len(steps) - 1) for later in LATER})
            for look in rows:
                later = max(each for each in LATER if row + each <= look or each == 0)
                later = LATER[-1] if look == len(steps) - 1 and later else later
                found = told(kind, run.until(int(steps[look])), int(steps[row]))
                hits[kind, later].append(found)
                if not found and arguments.missed:
                    print(f"{kind}, draw {draw}, {base.path}: row {row} of {len(steps)}, read at {look}")
    rows_of = [
        [kind, *(share(hits[kind, later]) for later in LATER)] for kind in KINDS if any(key[0] == kind for key in hits)
    ]
    columns = ["", *(f"{later} rows later" for later in LATER[:-1]), "at the end"]
    print(Table("Told, and still told", "1.000 from 6 rows later on", columns, rows_of).text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
