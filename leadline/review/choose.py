"""Samples that a reader is shown: early and late responses of equal score, and the run in stretches, each with
responses of the highest and the lowest score. The same run gives the same choice."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import zip_longest

import numpy as np

from ..draws import spread
from ..records import dataclass, replace
from ..run import Rollout, Rollouts
from ..tokens import cost

STRETCHES = 5
START = 0.1  # of the steps are the first stretch: many policies change within a few steps
SAME_LEVEL = 3  # pairs of one score: more of them show nothing new
EQUAL = 0.5  # standard deviations of the score: pairs further apart are shown only if there is none nearer
ENDS = 0.1  # of the steps are early, and as many late
LOOKED = 6  # steps of a stretch that are read
TIED = 0.2  # of the samples of a stretch are its highest, and as many its lowest: one odd sample is no example
LEVELS = (1.0, 0.0, 0.5, 0.85, 0.25, 0.7)  # of the ranked late scores: mostly high, as the policy is drawn there
NEAREST = 16  # samples of about one score, among which the most similar prompts are looked for
SAMPLES_COST = 2050  # tokens that all texts together may cost, by our count, which is rather too high
PLANS = (  # pairs, samples of the highest and of the lowest score in a stretch, tokens a response may take
    *((6, 2, 2, 120), (4, 2, 2, 90), (3, 2, 2, 80), (3, 2, 1, 80)),
    *((3, 2, 1, 66), (3, 1, 1, 84), (2, 1, 1, 72), (2, 1, 1, 48)),
)
BLIND = 7  # samples of the highest score in a stretch, for a reader who is not to know scores
BLIND_ROOM = 120  # tokens of a response there
BESIDES = 18  # tokens of a sample's line that are not its text: step, score, margins
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SamplePair:
    """An early and a late response with about the same score."""

    early: Rollout
    late: Rollout


@dataclass(frozen=True, slots=True)
class Passage:
    """One part of the run: its scores and some of its samples."""

    first_step: int
    last_step: int
    samples: int  # that were read
    score: float  # mean; NaN if nothing is scored
    low: float
    high: float
    length: float  # mean characters of a response
    highest: tuple[Rollout, ...]
    lowest: tuple[Rollout, ...]  # empty if all scores are equal: then `highest` holds samples of the one score


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that is shown, and how many tokens of a response fit."""

    steps: tuple[int, ...]  # that samples were kept at
    pairs: tuple[SamplePair, ...]
    stretches: tuple[Passage, ...]
    room: int
    deviation: float  # standard deviation of the scores


def sheet_of(samples: Rollouts, *, blind: int = 0) -> Sheet:
    """Return what to read of a run; blind: so many responses of the highest score a stretch, and no score."""
    read, steps = samples.at, samples.steps
    parts = _parts(steps)
    looked = [[some for step in spread(part, LOOKED) if (some := read(step))] for part in parts]
    filled = [(part, [one for some in pool for one in some]) for part, pool in zip(parts, looked, strict=True) if pool]
    count = max(math.ceil(ENDS * len(steps)), 2)
    early, late = _end(steps[:count], read), _end(steps[-count:], read)
    scores = [one.score for _, pool in filled for one in pool if math.isfinite(one.score)]
    deviation = float(np.std(scores)) if scores else 0.0
    sheet = Sheet(steps, (), (), 0, deviation)
    for pairs, high, low, room in ((0, blind, 0, BLIND_ROOM),) if blind else PLANS:
        chosen = _pairs(early, late, pairs, deviation) if len(steps) > 1 else ()
        sheet = Sheet(steps, chosen, tuple(_stretch(part, pool, high, low) for part, pool in filled), room, deviation)
        if _cost(sheet) <= SAMPLES_COST:
            break
    if not blind:
        return sheet
    nan, told = math.nan, []
    for part in sheet.stretches:
        highest = tuple(replace(one, score=nan) for one in part.highest)
        told.append(replace(part, score=nan, low=nan, high=nan, highest=highest))
    return replace(sheet, stretches=tuple(told))


def _end(steps: Sequence[int], read: Callable[[int], Sequence[Rollout]]) -> list[Rollout]:
    return [one for step in spread(steps, LOOKED) for one in read(step)]


def shown(sheet: Sheet) -> tuple[Rollout, ...]:
    """Return every sample of a sheet, in the order of reading."""
    pairs = [rollout for pair in sheet.pairs for rollout in (pair.early, pair.late)]
    return (*pairs, *(rollout for part in sheet.stretches for rollout in (*part.highest, *part.lowest)))


def prompt_room(room: int) -> int:
    """Return the tokens of a prompt that are shown beside a response of `room` tokens."""
    return max(room // 2, 18)


def _cost(sheet: Sheet) -> int:
    """Return what all texts cost, each as short as it will be shown."""
    return sum(
        min(cost(one.output[:4000]), sheet.room) + min(cost(one.prompt[-2000:]), prompt_room(sheet.room)) + BESIDES
        for one in shown(sheet)
    )


def _parts(steps: Sequence[int]) -> list[Sequence[int]]:
    """Return the steps in stretches: a short first one, to see where the policy started, and the rest in equal
    parts."""
    if len(steps) <= STRETCHES:
        return [(step,) for step in steps]
    first = max(round(START * len(steps)), 1)
    rest, count = steps[first:], STRETCHES - 1
    return [
        steps[:first],
        *(rest[place * len(rest) // count : (place + 1) * len(rest) // count] for place in range(count)),
    ]


def _stretch(steps: Sequence[int], pool: Sequence[Rollout], high: int, low: int) -> Passage:
    scored = sorted((one for one in pool if math.isfinite(one.score)), key=lambda one: (one.score, draw(one)))
    length = float(np.mean([len(one.output) for one in pool]))
    if not scored or scored[0].score == scored[-1].score:
        score = scored[0].score if scored else math.nan
        some = _different(sorted(scored or pool, key=draw), high + low)
        return Passage(steps[0], steps[-1], len(pool), score, score, score, length, some, ())
    least, most = scored[0].score, scored[-1].score
    count = max(round(TIED * len(scored)), 1)
    bar, floor = scored[-count].score, scored[count - 1].score
    top = [one for one in scored if one.score >= bar and one.score > least]
    bottom = [one for one in scored if one.score <= floor and one.score < most]
    drawn = (_different(sorted(some, key=draw), few) for some, few in ((top, high), (bottom, low)))
    mean = float(np.mean([one.score for one in scored]))
    return Passage(steps[0], steps[-1], len(pool), mean, least, most, length, *drawn)


def _different(drawn: Sequence[Rollout], count: int) -> tuple[Rollout, ...]:
    """Return the first of them that differ in their response, by step: from the first and from the second half of the
    steps in turn, so that a change within a stretch is seen."""
    once: dict[str, Rollout] = {}
    for one in drawn:
        once.setdefault(one.output, one)
    steps = sorted({one.step for one in drawn})
    middle = steps[len(steps) // 2] if steps else 0
    halves = [one for one in once.values() if one.step < middle], [one for one in once.values() if one.step >= middle]
    turns = [one for pair in zip_longest(*halves) for one in pair if one is not None]
    return tuple(sorted(turns[:count], key=lambda one: (one.step, -one.score)))


def _pairs(early: Sequence[Rollout], late: Sequence[Rollout], count: int, deviation: float) -> tuple[SamplePair, ...]:
    """Return pairs over the levels of the late scores, the highest first: for each level the two whose score and prompt
    are nearest."""
    first = [one for one in early if math.isfinite(one.score)] or list(early)
    last = sorted((one for one in late if math.isfinite(one.score)), key=lambda one: (one.score, draw(one)))
    last = last or sorted(late, key=draw)
    if not first or not last:
        return ()
    words = {one.prompt: frozenset(WORD.findall(one.prompt.lower())) for one in (*first, *last)}
    found: list[SamplePair] = []
    taken: set[tuple[str, str]] = set()
    for place in LEVELS[:count]:
        level = last[round(place * (len(last) - 1))].score
        if sum(_gap(pair.late.score, level, deviation) < 0.1 for pair in found) >= SAME_LEVEL:
            continue
        near = sorted(last, key=lambda one: (_gap(one.score, level, deviation), draw(one)))[:NEAREST]
        best: tuple[tuple[float, float, bytes], SamplePair] | None = None
        for new in near:
            for old in first:
                if old.step >= new.step or {("early", old.output), ("late", new.output)} & taken:
                    continue
                mine, theirs = words[old.prompt], words[new.prompt]
                unlike = 1 - len(mine & theirs) / max(len(mine | theirs), 1) if old.prompt != new.prompt else -1.0
                key = (round(_gap(old.score, new.score, deviation), 1), unlike, draw(old) + draw(new))
                if best is None or key < best[0]:
                    best = key, SamplePair(old, new)
        nearer = any(_gap(pair.early.score, pair.late.score, deviation) <= EQUAL for pair in found)
        if best is not None and (best[0][0] <= EQUAL or not nearer):
            taken |= {("early", best[1].early.output), ("late", best[1].late.output)}
            found.append(best[1])
    return tuple(found)


def _gap(one: float, other: float, deviation: float) -> float:
    """Return how far two scores are apart, in standard deviations."""
    return abs(one - other) / deviation if deviation > 0 and math.isfinite(one - other) else 0.0


def draw(rollout: Rollout) -> bytes:
    """Return an order that has nothing to do with what is in a sample, and is the same every time."""
    text = f"{rollout.step}\0{rollout.prompt}\0{rollout.output}"
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
