"""Sentences about KL to the reference, alone and against the reward."""

from __future__ import annotations

from ..facts.kl import Drift, KlCourse, KlReward
from .numbers import number, went
from .series import called

WENT = {"rose": "rose", "fell": "dropped"}
MEANING = {
    "rising/rising": "KL and reward both rising: policy is changing and improving",
    "rising/flat": "KL rising, reward flat: drift without gain",
    "rising/declining": "KL rising, reward falling: destructive updates",
    "stable/rising": "reward rising at constant KL: gain without further drift",
    "stable/flat": "KL and reward both flat now: nothing is changing",
    "stable/declining": "reward falling at constant KL: check data and reward function",
    "falling/rising": "KL falling, reward rising: policy is reverting to the reference and improving",
    "falling/flat": "KL falling, reward flat: policy is reverting to the reference",
    "falling/declining": "KL and reward falling: policy is reverting to the reference",
    "undecided": "too early to relate KL and reward",
}


def kl_line(section: KlReward) -> str:
    """Return the course of KL and its relation to the reward; empty if KL was not logged."""
    if section.course is None:
        return regime(section) if section.state == "always_zero" else ""
    course = _course(section.course)
    if not section.course.identified:
        return f"{course}; the log doesn't show whether it is KL to reference"
    undecided = section.regime == "undecided" and not section.frozen
    return course if undecided or section.state != "read" else f"{course}; {regime(section)}"


def _course(course: KlCourse) -> str:
    moved = went(course.start, course.now)
    if course.way in ("rose", "fell") and number(course.start) != number(course.now):
        return f"{WENT[course.way]} {moved}"
    if course.way == "too_few":
        return f"{moved}; too few points for a trend"
    if course.way != "still":
        return moved
    if course.erratic is None:
        return f"no clear trend around {number(course.now)}"
    low, high = map(number, course.erratic)
    return f"erratic, mostly between {low} and {high}; no visible trend"


def regime(section: KlReward) -> str:
    """How KL and reward move together."""
    if section.state == "too_little":
        return "too few points to relate KL and reward"
    if section.frozen:
        return "negligible: policy has barely left the reference"
    if section.state == "read":
        below = "; reward plateaued below its best" if section.below_best else ""
        return f"{MEANING[section.regime]}{below}"
    absent = (
        "KL to reference is 0 at every point: not computed, or the policy never moved."
        if section.state == "always_zero"
        else "KL to reference was not logged."
    )
    if not section.drift:
        return f"{absent} No other metric would show drift."
    return f"{absent} Other drift indicators: {'; '.join(map(_moved, section.drift))}."


def _moved(drift: Drift) -> str:
    name, now = called(drift.series), number(drift.now)
    if drift.way in ("rose", "fell"):
        return f"{name} {WENT[drift.way]} {went(drift.start, drift.now)}"
    return f"{name} moved and is at {now}" if drift.way == "moved" else f"{name} shows no clear trend around {now}"
