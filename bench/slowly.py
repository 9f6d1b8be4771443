"""Rising, still rising slowly, or flat: `python bench/slowly.py [--draws N] [--seed S]`.

Rises that saturate, sooner or later, and fast rises with a slow one after them, over a grid of noise, memory of the
noise, length and rounding. What is true is the gain over the last third of what was seen: of the whole range less than
a hundredth is flat, more than a twentieth is rising, and between these either word will do.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import itertools
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from simulate import Array, autoregressive, clock
from tables import Table, share

from leadline.questions.level import Trace
from leadline.questions.shape import shape_of
from leadline.run import Series

NOISES = (0.003, 0.01, 0.03, 0.1, 0.25)  # sd of a point, of the range
LENGTHS = (60, 250, 1000)
MEMORIES = (0.0, 0.6)
LEVELS = (0, 64)  # values a reward may have in its range; 0: any
UP = ("rising", "accelerating", "decelerating")


def saturating(tau: float) -> Callable[[Array], Array]:
    return lambda u: -np.expm1(-u / tau)


def fast_then_slow(corner: float, gain: float) -> Callable[[Array], Array]:
    """All but a share of the range until the corner, the rest at a steady pace after it."""
    return lambda u: (1 - gain) * np.clip(u / corner, 0, 1) + gain * np.clip((u - corner) / (1 - corner), 0, 1)


COURSES = {
    **{f"saturating, tau {tau}": saturating(tau) for tau in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.7)},
    **{
        f"fast until {corner}, then +{gain}": fast_then_slow(corner, gain)
        for corner, gain in itertools.product((0.1, 0.3, 0.6), (0.0, 0.1, 0.2, 0.35))
    },
}


def truth_of(course: Callable[[Array], Array]) -> str:
    seen = course(np.linspace(0, 1, 301))
    late = (seen[-1] - seen[200]) / np.ptp(seen)
    return "flat" if late < 0.01 else "rising" if late > 0.05 else "between"


def said_of(values: Array) -> tuple[str, float]:
    steps = np.arange(1, len(values) + 1)
    shape = shape_of(Trace(Series("reward/mean", "reward", "", steps, values)))
    word = "rising" if shape.word in UP else "flat" if shape.word in ("flat", "noise") else shape.word
    return word, shape.p


def slow_rise_seen(course: Callable[[Array], Array], n: int, noise: float, phi: float) -> bool:
    """Whether a line through the last half stands out of its noise by four errors: nobody can tell less."""
    half = course(clock(n))[n // 2 :]
    error = noise * np.sqrt(12 / len(half) * (1 + phi) / (1 - phi))
    return bool(half[-1] - half[0] > 4 * error)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--courses", action="store_true", help="show each course by itself")
    arguments = parser.parse_args(argv)
    found: dict[tuple[str, float], list[str]] = defaultdict(list)
    clear: dict[float, list[str]] = defaultdict(list)
    by_course: dict[tuple[str, float], list[str]] = defaultdict(list)
    grid = itertools.product(enumerate(COURSES.items()), enumerate(NOISES), LENGTHS, MEMORIES, LEVELS)
    for (place, (name, course)), (nth, noise), n, phi, levels in grid:
        for draw in range(arguments.draws):
            rng = np.random.default_rng((arguments.seed, place, nth, n, round(10 * phi), levels, draw))
            values = course(clock(n)) + noise * autoregressive(n, phi, rng)
            word, _ = said_of(np.round(values * levels) / levels if levels else values)
            true = truth_of(course)
            found[true, noise].append(word)
            by_course[name, noise].append(word)
            if true == "rising" and slow_rise_seen(course, n, noise, phi):
                clear[noise].append(word)
    rows = [
        ["flat, said to rise", *(share(w == "rising" for w in found["flat", noise]) for noise in NOISES)],
        ["flat, said so", *(share(w == "flat" for w in found["flat", noise]) for noise in NOISES)],
        ["rising, said to be flat", *(share(w == "flat" for w in found["rising", noise]) for noise in NOISES)],
        ["rising, said so where it shows", *(share(w == "rising" for w in clear[noise]) for noise in NOISES)],
        ["rising, flat where it shows", *(share(w == "flat" for w in clear[noise]) for noise in NOISES)],
    ]
    columns = ["noise of a point, of the range", *map(str, NOISES)]
    print(Table("Rising, slowly rising, flat", "said falsely < .05", columns, rows).text())
    if arguments.courses:
        rows = [
            [f"{name} ({truth_of(course)})"]
            + [
                "/".join(
                    str(sum(w == word for w in by_course[name, noise])) for word in ("rising", "undecided", "flat")
                )
                for noise in NOISES
            ]
            for name, course in COURSES.items()
        ]
        print(Table("Rising / undecided / flat", "-", columns, rows).text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
