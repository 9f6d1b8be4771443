"""Meaning: how far apart the answers lie, across prompts and within one prompt, against the run's own start.

Read only when asked for, by vectors of an embedder. It sees what counting phrases cannot: the same thing said in other
words. It is noted and never moves the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...facts import Evidence, Finding
from ...facts.generation import CloserMeaning, Compared
from ...questions.bars import FEW, SAID, TWO
from ...run import Rollout
from ..sampler import Batch, joined
from ..view import View
from .diversity import LOST
from .embedder import Embedder
from .measure import BASELINE, Measure
from .samples import early_and_late, shortened
from .witnesses import at_the_top

Floats = NDArray[np.float64]
Bundles = Sequence[Sequence[str]]  # the texts of a batch that are compared with each other

ACROSS, WITHIN = "text/meaning_spread", "text/meaning_within"
LONGEST = 1024  # characters of a text, from both of its ends: what tells what it is about
SIZES = 4  # sizes from one to its double: texts are cut to one of them
DIGITS = 6  # decimal places: what the sums of two machines may differ in lies beyond them


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean distance between the texts of a batch, 0 the same to 1 unrelated, and the error their number gives it. NaN:
    too few of them mean anything."""

    level: float
    error: float


def read(view: View, batches: Sequence[Batch], embedder: Embedder) -> tuple[Finding, ...]:
    """Notes that answers have come closer in meaning."""
    batches = joined(batches)
    return (*_across(view, batches, embedder), *_within(view, batches, embedder))


def relative_spread(name: str, steps: Sequence[int], batches: Sequence[Bundles], embedder: Embedder) -> Measure | None:
    """The spread by batch over that of the first batches: 1 at the start. None: too few batches, or no early spread.

    The mean of many words lies near the mean of all words, so longer texts look alike. Every batch is therefore
    compared with the start at one size: that of its own texts or of the early ones, whichever is shorter.
    """
    spoken = [[told for bundle in bundles if (told := _told(bundle))] for bundles in batches]
    known = [(step, bundles) for step, bundles in zip(steps, spoken, strict=True) if bundles]
    if len(known) < BASELINE + TWO:
        return None
    start = [bundles for _, bundles in known[:BASELINE]]
    longest = min(map(_room, start))
    sized = [(step, bundles, min(_room(bundles), longest)) for step, bundles in known]
    rooms = sorted({room for *_, room in sized})
    early = [(bundles, room) for room in rooms for bundles in start]
    vectors = _vectors([*early, *((bundles, room) for _, bundles, room in sized)], embedder)
    bases = {room: _mean([spread(bundles, room, vectors) for bundles in start]) for room in rooms}
    if not bases[longest].level > 0:
        return None
    spreads = [(step, spread(bundles, room, vectors), bases[room].level) for step, bundles, room in sized]
    # Cut to so few characters that the early texts are all one, nothing can be compared: such a batch is left out.
    spreads = [(step, spread_of, base) for step, spread_of, base in spreads if base > 0 and spread_of.level >= 0]
    return Measure(
        name,
        np.asarray([step for step, *_ in spreads], dtype=np.int64),
        np.round([spread_of.level / base for _, spread_of, base in spreads], DIGITS),
        np.round([spread_of.error / base for _, spread_of, base in spreads], DIGITS),
        round(bases[longest].error / bases[longest].level, DIGITS),
    )


def spread(bundles: Bundles, room: int, vectors: dict[str, Floats]) -> Spread:
    """Of all bundles of a batch, each counting the same."""
    stacks = (np.stack([vectors[_cut(text, room)] for text in bundle]) for bundle in bundles)
    meant = (stack[stack.any(axis=1)] for stack in stacks)
    return _mean([_of_one(stack) for stack in meant if len(stack) >= FEW])


def _of_one(vectors: Floats) -> Spread:
    """The mean cosine distance of all pairs, and its error by leaving out one text after the other (jackknife). The
    mean over pairs does not depend on how many texts there are."""
    count = len(vectors)
    rows = count - (vectors * vectors.sum(axis=0)).sum(axis=1)  # of each text, its distance to all others
    whole = float(rows.sum())
    without = (whole - 2 * rows) / ((count - 1) * (count - 2))
    error = float(np.sqrt((count - 1) * np.mean((without - without.mean()) ** 2)))
    return Spread(max(round(whole / (count * (count - 1)), 2 * DIGITS), 0.0), error)


def _mean(spreads: Sequence[Spread]) -> Spread:
    if not spreads:
        return Spread(math.nan, math.nan)
    error = float(np.sqrt(np.sum([spread_of.error**2 for spread_of in spreads]))) / len(spreads)
    return Spread(float(np.mean([spread_of.level for spread_of in spreads])), error)


def _across(view: View, batches: Sequence[Batch], embedder: Embedder) -> tuple[Finding, ...]:
    steps = [batch.step for batch in batches]
    measure = relative_spread(
        ACROSS, steps, [[[sample.output for sample in batch.alone]] for batch in batches], embedder
    )
    if measure is None:
        return ()
    view.keep(measure.series)
    bar = 1 - LOST
    (p,) = measure.beyond(view, bar)
    if p >= SAID:
        asked = relative_spread(
            "prompts", steps, [[[sample.prompt for sample in batch.alone]] for batch in batches], embedder
        )
        bar *= _narrowed(asked, measure.since(bar))
        (p,) = measure.beyond(view, bar)
    if p < SAID:
        return ()
    compared: Compared = "different_prompts" if len({sample.prompt for sample in batches[-1].alone}) > 1 else "any"
    facts = CloserMeaning(compared, measure.late, embedder.name)
    return (_finding(measure, bar, p, facts, early_and_late(batches)),)


def _within(view: View, batches: Sequence[Batch], embedder: Embedder) -> tuple[Finding, ...]:
    """Groups of a batch are few, so their own errors say too little: only the curve is believed."""
    bundles = [[[sample.output for sample in group] for group in batch.groups] for batch in batches]
    found = relative_spread(WITHIN, [batch.step for batch in batches], bundles, embedder)
    if found is None:
        return ()
    measure = Measure(found.name, found.steps, found.values, np.full(len(found.steps), np.inf), found.start_error)
    view.keep(measure.series)
    (p,) = measure.beyond(view, 1 - LOST)
    if p < SAID or at_the_top(batches):  # where one answer is right, meaning the same is what was to be learned
        return ()
    facts = CloserMeaning("one_prompt", measure.late, embedder.name)
    last = next((batch.groups[-1][:3] for batch in reversed(batches) if batch.groups), ())
    return (_finding(measure, 1 - LOST, p, facts, tuple(map(shortened, last))),)


def _narrowed(asked: Measure | None, since: int) -> float:
    """What is left of the distance between the prompts, at most 1: closer prompts ask for closer answers."""
    if asked is None or not (asked.steps > since).any():
        return 1.0
    return min(float(np.median(asked.values[asked.steps > since])), 1.0)


def _finding(measure: Measure, bar: float, p: float, facts: CloserMeaning, samples: tuple[Rollout, ...]) -> Finding:
    evidence = Evidence("rollouts", int(measure.steps[0]), int(measure.steps[-1]), samples=samples)
    since = measure.since(bar)
    return Finding("generation.meaning", round(p, 4), "note", facts=facts, since_step=since, evidence=(evidence,))


def _told(texts: Sequence[str]) -> list[str]:
    """The texts that say anything, where they are enough."""
    told = [text for text in texts if text.strip()]
    return told if len(told) >= FEW else []


def _room(bundles: Bundles) -> int:
    """Characters of a middling text, down to the next size, so that few sizes have to be read of the start."""
    middle = float(np.median([len(text) for bundle in bundles for text in bundle]))
    return min(int(2 ** (math.floor(SIZES * math.log2(middle)) / SIZES)), LONGEST)


def _cut(text: str, room: int) -> str:
    """Its beginning and its end, in whole words where it has some: many answers begin alike, and what degenerates does
    so at the end."""
    if len(text) <= room:
        return text
    first, last = text[: (room + 1) // 2], text[len(text) - room // 2 :]
    return f"{first.rpartition(' ')[0] or first} {last.partition(' ')[2] or last}"


def _vectors(wanted: Sequence[tuple[Bundles, int]], embedder: Embedder) -> dict[str, Floats]:
    """Each different text once, all in one go."""
    texts = list(dict.fromkeys(_cut(text, room) for bundles, room in wanted for bundle in bundles for text in bundle))
    return dict(zip(texts, embedder.embed(texts), strict=True))
