"""What the scores of the samples tell by themselves: their levels, how reliable they are, and how often a prompt came
back."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..run import Rollout
from .written import Floats, Written

MOST_LEVELS = 12  # distinct values: a score with more is a measure, not a sum of a few parts
HELD = 0.01  # of the samples: a value that fewer have is an oddity
ROUND = 4  # decimals: what a dump writes
SAME = 8  # pairs of equal answers to equal prompts: with fewer, no rate of noise


@dataclass(frozen=True, slots=True)
class ScoreLevel:
    """One value that the score takes."""

    value: float
    early: float  # share of the samples in the first third of the batches
    late: float  # and in the last
    example: Rollout


@dataclass(frozen=True, slots=True)
class Levels:
    """A score that takes few values. `parts`: steps from which every value is a sum, where there are such."""

    levels: tuple[ScoreLevel, ...]  # the lowest first
    parts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LabelNoise:
    """Equal answers to equal prompts that were scored differently."""

    pairs: int
    differ: float  # share of the pairs
    rate: float  # of labels that are wrong, if each flips by itself
    ceiling: float  # what a policy that is always right would earn, in the score's own levels
    example: tuple[Rollout, Rollout]


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often prompts come back."""

    different: int
    seen: int
    again: float  # share of the samples whose prompt had been seen at an earlier step
    first_time: float | None  # mean score of prompts seen for the first time in the second half, and
    later: float | None  # of prompts seen before then, at the same steps


def levels(written: Written) -> Levels | None:
    """The values of a score that takes few; None where it is a measure, or was not kept."""
    known = np.isfinite(written.scores)
    if not known.any():
        return None
    values = np.round(written.scores, ROUND)
    counts = Counter(values[known].tolist())
    if len(counts) > MOST_LEVELS:
        return None
    held = sorted(value for value, times in counts.items() if times >= HELD * known.sum())
    if len(held) < 2:
        return None
    third = max(written.batches // 3, 1)
    early, late = written.batch < third, written.batch >= written.batches - third
    found = tuple(
        ScoreLevel(
            value,
            float((values[known & early] == value).mean()) if (known & early).any() else 0.0,
            float((values[known & late] == value).mean()) if (known & late).any() else 0.0,
            written.samples[int(np.flatnonzero(values == value)[-1])],
        )
        for value in held
    )
    return Levels(found, _parts(held))


def _parts(values: list[float]) -> tuple[float, ...]:
    """Two steps of which every value above the lowest is one or the sum: 0, .2, 1 and 1.2 are parts of .2 and 1."""
    above = [round(value - values[0], ROUND) for value in values[1:]]
    if len(above) == 1:
        return (above[0],)
    for place, small in enumerate(above):
        for large in above[place + 1 :]:
            sums = {small, large, round(small + large, ROUND)}
            if set(above) <= sums and len(above) >= 2 and (small + large in above or len(above) == 2):
                return (small, large)
    return ()


def label_noise(written: Written) -> LabelNoise | None:
    """How often equal answers to equal prompts get different scores; None where too few are equal, or none differs."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, sample in enumerate(written.samples):
        if sample.prompt and np.isfinite(written.scores[place]):
            groups[sample.prompt, sample.output].append(place)
    pairs = differ = 0
    example: tuple[Rollout, Rollout] | None = None
    for places in groups.values():
        for one, other in pairwise(places):
            pairs += 1
            if written.scores[one] != written.scores[other]:
                differ += 1
                example = example or (written.samples[one], written.samples[other])
    if pairs < SAME or example is None:
        return None
    apart = differ / pairs
    rate = 0.5 * (1 - float(np.sqrt(max(1 - 2 * apart, 0.0))))  # two labels differ if exactly one is wrong
    low, high = float(np.nanmin(written.scores)), float(np.nanmax(written.scores))
    return LabelNoise(pairs, apart, rate, high - rate * (high - low), example)


def repeats(written: Written) -> Repeats | None:
    """How many different prompts there are, how often they come back, and what that does to the score."""
    if not written.asks.any():
        return None
    first: dict[str, int] = {}
    again = np.zeros(len(written), dtype=bool)
    for place, sample in enumerate(written.samples):
        batch = int(written.batch[place])
        again[place] = first.setdefault(sample.prompt, batch) < batch
    late = (written.batch >= written.batches // 2) & np.isfinite(written.scores)
    return Repeats(
        len(first),
        len(written),
        float(again[written.batch > 0].mean()) if (written.batch > 0).any() else 0.0,
        _mean(written.scores[late & ~again]),
        _mean(written.scores[late & again]),
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
