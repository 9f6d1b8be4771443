"""The shortcut search: what high-reward samples share now that high-reward samples lacked at first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..facts import Evidence, Facts, Finding, Guide
from ..questions.bars import FEW, SAID, SELDOM, TWO
from ..questions.level import last_before
from ..questions.way import net_change
from ..reading.generations.samples import BASELINE, early_and_late
from ..reading.generations.shared import FEWEST, shares, upper_half
from ..reading.generations.text import DIGIT, Text, TokenStream, as_text, spelled, stream
from ..reading.sampler import Batch, joined
from ..reading.view import HEADLINE, View
from ..words.numbers import percent

GUIDE = {
    "generation.shortcut": Guide(
        "High-reward responses share something that early ones lacked.",
        "Phrases that most high-reward samples contain now and few contained before.",
        "Read the samples: it may be learned behavior. If the reward function rewards the phrase itself, it is a "
        "shortcut.",
    ),
}
Flags = NDArray[np.bool_]

ORDER = 3  # tokens of a phrase at most
PHRASES = 3  # named at most


@dataclass(frozen=True, slots=True)
class Mark:
    """A phrase that came into, or went out of, what is rewarded."""

    phrase: str
    gained: bool  # it came in; else it went out
    early: float  # share of early high-reward samples that have it
    late: float
    low: float | None  # share of late low-reward samples that have it; None: there are none
    since: int  # the last step before most high-reward samples were as they are now


@dataclass(frozen=True, slots=True)
class Shortcut(Facts):
    """What high-reward answers share now and lacked at first."""

    phrases: tuple[Mark, ...]
    any_digit: str | None  # the character that stands for any digit, where a phrase holds it

    def say(self) -> str:
        return f"High-reward samples have changed: they {self._parts()}. Read them: learned, or a shortcut."

    def _parts(self) -> str:
        """What came in and what went out."""
        parts: list[str] = []
        for gained, verb in ((True, "now contain"), (False, "no longer contain")):
            named = [f"{mark.phrase!r} ({_shares(mark)})" for mark in self.phrases if mark.gained == gained]
            if named:
                parts.append(f"{verb} {', '.join(named)}")
        return " and ".join(parts) + (f" ({self.any_digit} is any digit)" if self.any_digit else "")


def _shares(mark: Mark) -> str:
    low = "" if mark.low is None or math.isnan(mark.low) else f"; low-reward {percent(mark.low)}"
    return f"{percent(mark.late)}{low}; {percent(mark.early)} at the start"


def detect(view: View) -> tuple[Finding, ...]:
    """Name the phrases that high reward goes with now and did not at first, while the reward rose. A right answer parts
    high from low reward as well, so this is for a reader."""
    batches = joined(view.batches)
    reward = net_change(view.curve(HEADLINE))
    if len(batches) < BASELINE + TWO or reward is None or reward.rose < SAID:
        return ()
    marks = _marks(as_text([[sample.output for sample in batch.samples] for batch in batches]), batches)
    if not marks:
        return ()
    facts = Shortcut(marks, DIGIT if any(DIGIT in mark.phrase for mark in marks) else None)
    evidence = (Evidence("rollouts", batches[0].step, batches[-1].step, samples=early_and_late(batches)),)
    p, since = round(reward.rose, 4), min(mark.since for mark in marks)
    return (Finding("generation.shortcut", p, "note", facts=facts, since_step=since, evidence=evidence),)


def _marks(text: Text, batches: Sequence[Batch]) -> tuple[Mark, ...]:
    """The phrases that best part late high-reward samples from early ones, the clearest first."""
    scores = np.asarray([sample.score for batch in batches for sample in batch.samples])
    high = _rewarded(scores, text.batch)
    early, late = high & (text.batch < BASELINE), high & (text.batch >= max(len(batches) - FEW, BASELINE))
    if min(early.sum(), late.sum()) < FEWEST:
        return ()
    read = stream(text, ORDER)
    found: list[Mark] = []
    for order in range(ORDER):
        found += _of_order(text, batches, read, order, (high, early, late))
    found.sort(key=lambda mark: (-abs(mark.late - mark.early), -len(mark.phrase), mark.phrase))
    return tuple(_different(found))


def _rewarded(scores: NDArray[np.float64], batch: NDArray[np.int64]) -> Flags:
    """Samples at or above the median reward of their step. Where all are equal, all of them: nothing else is paid."""
    high = np.zeros(len(scores), dtype=bool)
    for place in range(int(batch.max()) + 1 if len(batch) else 0):
        inside = np.flatnonzero((batch == place) & np.isfinite(scores))
        if len(inside):
            high[inside] = upper_half(scores[inside])
    return high


def _of_order(
    text: Text, batches: Sequence[Batch], read: TokenStream, order: int, chosen: tuple[Flags, Flags, Flags]
) -> list[Mark]:
    high, early, late = chosen
    kinds, places, held = shares(read, order, early, late)
    gained = (held[0] <= SELDOM) & (held[1] >= SAID)
    lost = (held[0] >= SAID) & (held[1] <= SELDOM)
    ranked = sorted(np.flatnonzero(gained | lost).tolist(), key=lambda place: -abs(held[1][place] - held[0][place]))
    found = []
    for place in ranked[: 4 * PHRASES]:
        has = np.zeros(len(text.batch), dtype=bool)
        has[read.sample[read.grams[order] == kinds[place]]] = True
        low = ~high & (text.batch >= len(batches) - FEW)
        found.append(
            Mark(
                spelled(text, read, int(places[place]), order),
                bool(gained[place]),
                float(held[0][place]),
                float(held[1][place]),
                float(has[low].mean()) if low.sum() >= FEWEST else None,
                _since(batches, text.batch, high, has == bool(gained[place])),
            )
        )
    return found


def _since(batches: Sequence[Batch], batch: NDArray[np.int64], high: Flags, as_now: Flags) -> int:
    most = [
        bool(np.mean(as_now[high & (batch == place)]) > 0.5) if (high & (batch == place)).any() else False
        for place in range(len(batches))
    ]
    return batches[last_before(np.asarray(most))].step


def _different(found: Sequence[Mark]) -> list[Mark]:
    """Without those that say the same as a clearer one."""
    kept: list[Mark] = []
    for phrase in found:
        if not any(phrase.phrase in other.phrase or other.phrase in phrase.phrase for other in kept):
            kept.append(phrase)
    return kept[:PHRASES]
