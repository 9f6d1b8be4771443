"""The shape of a curve in one word, with the doubt that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass

from ..curve import Curve
from ..run import Series
from . import classes
from .bars import CLEARLY
from .level import left_its_start
from .peak import Peak, peak_of

AGREED = 0.85  # probability: a word is said only when so many paths agree

WORDS = ("accelerating", "rising", "decelerating", "flat", "declining", "peaked", "noise")


@dataclass(frozen=True, slots=True)
class Shape:
    """What the curve does now. The probabilities are shares of paths and add up to 1, or are all 0: not decidable."""

    word: str
    probabilities: dict[str, float]
    peak: Peak | None

    @property
    def p(self) -> float:
        """Probability of the word that is said; of the likeliest where none is."""
        groups = _groups(self.probabilities)
        return max(groups.get(self.word, 0.0), self.probabilities.get(self.word, 0.0)) or max(groups.values())


def shape_of(curve: Curve, logged: Series | None = None) -> Shape:
    """The word for what the curve does, or "undecided". `logged` tells a start that was over too soon for the curve."""
    if curve.constant:
        return Shape("flat", {word: float(word == "flat") for word in WORDS}, None)
    if not curve.decidable:
        return Shape("undecided", dict.fromkeys(WORDS, 0.0), None)
    rising, faster, slower = classes.rising(curve), classes.accelerating(curve), classes.decelerating(curve)
    probabilities = {
        "accelerating": float(faster.mean()),
        "rising": float((rising & ~faster & ~slower).mean()),
        "decelerating": float(slower.mean()),
        "flat": float(classes.flat(curve).mean()),
        "declining": float(classes.declining(curve).mean()),
        "peaked": float(classes.peaked(curve).mean()),
        "noise": float(curve.trendless.mean()),
    }
    if logged is not None and left_its_start(curve, logged):
        probabilities["flat"] += probabilities.pop("noise")
        probabilities["noise"] = 0.0
    peak = peak_of(curve)
    return Shape(_word(probabilities), probabilities, peak)


def _groups(p: dict[str, float]) -> dict[str, float]:
    """What is first decided between: up, down, or neither."""
    return {
        "rising": p["accelerating"] + p["rising"] + p["decelerating"],
        "declining": p["declining"] + p["peaked"],
        "flat": p["flat"] + p["noise"],
    }


def _word(p: dict[str, float]) -> str:
    group, share = max(_groups(p).items(), key=lambda item: item[1])
    if share <= (CLEARLY if group == "declining" else AGREED):
        return "undecided"
    if group == "rising":
        # The pace is named only when nearly all that rise agree on it.
        return next((word for word in ("accelerating", "decelerating") if p[word] > AGREED * share), "rising")
    if group == "declining":
        return "peaked" if p["peaked"] >= p["declining"] else "declining"
    return "flat" if p["flat"] >= p["noise"] else "noise"
