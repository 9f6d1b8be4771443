"""The shortcut search: what high-reward samples share now that high-reward samples lacked at first."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..digits import percent
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide
from ..kept import MANY, kept
from ..questions.direction import p_climbed
from ..questions.level import SHOWS, last_before
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD
from ..text.phrases import DIGIT, Outputs, upper_half
from ..text.sampler import TELLING, Batch
from ..text.shown import early_and_late
from ..text.written import BATCHES, joined

GUIDE = {
    "generation.shortcut": Guide(
        "High-reward responses share something that early ones lacked.",
        "Phrases that most high-reward samples contain now and few contained before.",
        "Read the samples: it may be learned behavior. If the reward function rewards the phrase itself, it is a "
        "shortcut.",
    ),
}
PHRASES = 3  # named at most


@dataclass(frozen=True, slots=True)
class Mark:
    """A phrase that came into, or went out of, what is rewarded."""

    phrase: str
    gained: bool  # it came in; else it went out
    early: float  # share of early high-reward samples that have it
    late: float
    low: float | None  # share of late low-reward samples that have it; None: there are none, or it is the same
    since: int  # the last step before most high-reward samples were as they are now


@dataclass(frozen=True, slots=True)
class Shortcut(Facts):
    """Phrases that high-reward responses share now and lacked at first."""

    phrases: tuple[Mark, ...]
    any_digit: str | None  # the character that stands for any digit, where a phrase holds it

    def say(self) -> str:
        return f"High-reward samples have changed: they {self._parts()}. Read them: learned, or a shortcut."

    def _parts(self) -> str:
        """Return what came in and what went out."""
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
    batches, groups = view.whole.batches, joined(view.whole.batches)
    reward = view.readable(REWARD)
    p = 0.0 if reward is None else p_climbed(reward.curve)
    if len(groups) <= BATCHES or p < SAID:
        return ()
    marks = _marks(groups)
    if not marks:
        return ()
    facts = Shortcut(marks, DIGIT if any(DIGIT in mark.phrase for mark in marks) else None)
    evidence = (Evidence("rollouts", batches[0].step, batches[-1].step, samples=early_and_late(batches)),)
    since = min(mark.since for mark in marks)
    return (Finding("generation.shortcut", round(p, 4), "note", facts=facts, since_step=since, evidence=evidence),)


@kept(MANY)
def _marks(groups: Sequence[Sequence[Batch]]) -> tuple[Mark, ...]:
    """Return the phrases that best part late high-reward samples from early ones, the clearest first."""
    outputs = Outputs.of(groups)
    group, high = outputs.group, _rewarded(outputs.scores, outputs.group)
    lately = group >= max(len(groups) - BATCHES, BATCHES)
    early, late, low = high & (group < BATCHES), high & lately, ~high & lately & np.isfinite(outputs.scores)
    pair = outputs.parted(late, early)
    found = [(phrase, True) for phrase in pair.only_here] + [(phrase, False) for phrase in pair.only_there]
    marks = []
    for phrase, gained in sorted(found, key=lambda one: one[0].there - one[0].here)[:PHRASES]:
        has = np.asarray([phrase.phrase in outputs.held(place) for place in range(len(outputs.texts))], dtype=bool)
        shares = (phrase.there, phrase.here) if gained else (phrase.here, phrase.there)
        of_low = float(has[low].mean()) if low.sum() >= TELLING and _differ(has[late], has[low]) else None
        most = [(has == gained)[high & (group == place)].mean() > 0.5 for place in range(len(groups))]
        since = groups[last_before(np.asarray(most))][-1].step
        marks.append(Mark(phrase.phrase, gained, *shares, of_low, since))
    return tuple(marks)


def _differ(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Return whether two shares differ by more than their noise."""
    both = np.concatenate([one, other]).mean()
    error = np.sqrt(both * (1 - both) * (1 / len(one) + 1 / len(other)))
    return bool(abs(one.mean() - other.mean()) > SHOWS * error)


def _rewarded(scores: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which samples stand at or above the median reward of their step; if all are equal, all of them do."""
    high = np.zeros(len(scores), dtype=bool)
    for place in np.unique(group):
        inside = np.flatnonzero((group == place) & np.isfinite(scores))
        if len(inside):
            high[inside] = upper_half(scores[inside])
    return high
