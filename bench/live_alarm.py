"""How soon a fall is looked at, and how often for nothing: `python bench/live_alarm.py [--runs N]`.

Series of rewards with noise of many kinds about curves of many shapes; at a random row the level falls by so many sd of
the noise and stays there. Beside the alarm: four standard deviations off the rows before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from tables import Table

from leadline.live.schedule import SeriesAlarm

ROWS = 3
Values = np.ndarray
Listener = Callable[[Values], list[bool]]


def now(values: Values) -> list[bool]:
    alarm = SeriesAlarm()
    return [alarm.push(float(value)) for value in values]


def plain(values: Values) -> list[bool]:
    """Four standard deviations off the rows since it last rang, at most a hundred."""
    rung, first = [], 0
    for place, value in enumerate(values):
        before = values[max(first, place - 100) : place]
        rung.append(len(before) >= 20 and bool(abs(value - before.mean()) > 4 * before.std()))
        first = place if rung[-1] else first
    return rung


LISTENERS: dict[str, Listener] = {"the alarm": now, "four sd of the last rows": plain}


def noise(kind: str, count: int, rng: np.random.Generator) -> Values:
    """Noise of sd 1."""
    if kind.startswith("takes after"):
        share = float(kind.split()[-1])
        found = np.empty(count)
        found[0] = rng.standard_normal()
        for place in range(1, count):
            found[place] = share * found[place - 1] + np.sqrt(1 - share * share) * rng.standard_normal()
        return found
    return {
        "normal": lambda: rng.standard_normal(count),
        "laplace": lambda: rng.laplace(size=count) / np.sqrt(2),
        "t3": lambda: rng.standard_t(3, count) / np.sqrt(3),
        "of 64 samples": lambda: (rng.binomial(64, 0.5, count) - 32) / 4.0,
        "of 8 samples": lambda: (rng.binomial(8, 0.5, count) - 4) / np.sqrt(2),
    }[kind]()


def curve(shape: str, count: int, length: int) -> Values:
    """A curve of a run of `length` rows, in sd of the noise."""
    done = np.arange(count) / length
    return {
        "flat": lambda: 0 * done,
        "saturating": lambda: 20 * (1 - np.exp(-5 * done)),
        "rising": lambda: 15 * done,
    }[shape]()


KINDS = ("normal", "of 64 samples", "of 8 samples", "laplace", "t3", "takes after 0.5", "takes after 0.9")
SHAPES = ("flat", "saturating", "rising")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="of each kind, shape and size of fall")
    parser.add_argument("--rows", type=int, default=10_000, help="without a fall, of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help="leave out the alarm before it")
    asked = parser.parse_args(argv)
    falls, rows = [], []
    for name, listen in list(LISTENERS.items())[: 1 if asked.alone else None]:
        for kind in KINDS:
            rng = np.random.default_rng([asked.seed, KINDS.index(kind)])
            cells = [share(listen, kind, size, asked.runs, rng) for size in (5.0, 8.0, 25.0)]
            falls.append([name, kind, *cells])
            rows.append([name, kind, *false_rings(listen, kind, asked.rows, rng)])
        clean = [any(listen(collapse(level, seed))[80 : 80 + ROWS]) for level in (0.0, 0.02, 0.1) for seed in range(40)]
        falls.append([name, "reward .63 -> .125, noise 0, .02, .1", "", "", f"{np.mean(clean):.3f}"])
    heads = ("", "noise", "5 sd", "8 sd", "25 sd")
    print(Table(f"Rings within {ROWS} rows of a fall", ">= .95 at 5 sd", heads, falls).text())
    print(Table("False rings in 10,000 rows", "<= 1", ("", "noise", *SHAPES), rows).text())
    return 0


def share(listen: Listener, kind: str, size: float, runs: int, rng: np.random.Generator) -> str:
    hits = []
    for shape in SHAPES:
        for _ in range(runs):
            at = int(rng.integers(25, 250))
            values = curve(shape, at + ROWS, 400) + noise(kind, at + ROWS, rng)
            values[at:] -= size
            hits.append(any(listen(values)[at:]))
    return f"{np.mean(hits):.3f}"


def false_rings(listen: Listener, kind: str, rows: int, rng: np.random.Generator) -> list[str]:
    found = []
    for shape in SHAPES:
        count = sum(sum(listen(curve(shape, 1000, 1000) + noise(kind, 1000, rng))) for _ in range(rows // 1000))
        found.append(f"{1e4 * count / rows:.1f}")
    return found


def collapse(level: float, seed: int) -> Values:
    rng = np.random.default_rng([seed, int(1000 * level)])
    return np.where(np.arange(120) >= 80, 0.125, 0.63) + level * rng.standard_normal(120)


if __name__ == "__main__":
    sys.exit(main())
