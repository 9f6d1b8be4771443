"""Sentences about KL to the reference, alone and against the reward."""

from __future__ import annotations

from ..facts.kl import Drift, KlCourse, KlReward
from .numbers import number
from .series import called

MEANING = {
    "rising/rising": "KL and reward both rise: the policy is changing and improving",
    "rising/flat": "KL keeps rising while the reward is flat: the policy moves without gain",
    "rising/declining": "KL rises while the reward falls: the updates are destructive",
    "stable/rising": "the reward still rises at a stable KL: gain without further drift",
    "stable/flat": "KL and reward are both flat now: neither the policy nor the reward moves",
    "stable/declining": "the reward falls at a stable KL: look at the task and the reward function",
    "falling/rising": "KL falls while the reward rises: the policy returns towards its reference and improves",
    "falling/flat": "KL falls while the reward is flat: the policy returns towards its reference",
    "falling/declining": "KL and reward both fall: the policy returns towards its reference and gives up reward",
    "undecided": "too early to say which way KL and reward go together",
}


def kl_line(section: KlReward) -> str:
    """What KL does, in its own numbers, and what that means beside the reward; empty where it was not logged."""
    if section.course is None:
        return regime(section) if section.state == "always_zero" else ""
    course = _course(section.course)
    if not section.course.identified:
        return f"{course}; kind unknown: the log does not say whether it is KL to the reference"
    undecided = section.regime == "undecided" and not section.frozen
    return course if undecided or section.state != "read" else f"{course}; {regime(section)}"


def _course(course: KlCourse) -> str:
    start, now = number(course.start), number(course.now)
    if course.way in ("rose", "fell") and start != now:
        return f"{course.way} from {start} to {now}"
    if course.way == "too_few":
        return f"{start} at the start, {now} now; too few points to say more"
    if course.way != "still":
        return f"{start} at the start, {now} now"
    if course.erratic is None:
        return f"no clear trend around {now}"
    low, high = map(number, course.erratic)
    return f"erratic, mostly between {low} and {high}; no trend can be seen in that"


def regime(section: KlReward) -> str:
    """How KL and reward move together."""
    if section.state == "too_little":
        return "too few points to read KL against reward"
    if section.frozen:
        return "too small to mean anything: the policy has hardly left its reference model"
    if section.state == "read":
        below = "; the reward has plateaued below its best" if section.below_best else ""
        return f"{MEANING[section.regime]}{below}"
    absent = (
        "KL to the reference is 0 at every point: it was not computed, or the policy never moved."
        if section.state == "always_zero"
        else "KL to the reference was not logged."
    )
    if not section.drift:
        return f"{absent} Nothing else in the log would show drift."
    return f"{absent} What else may show drift: {'; '.join(map(_moved, section.drift))}."


def _moved(drift: Drift) -> str:
    name, start, now = called(drift.series), number(drift.start), number(drift.now)
    if drift.way in ("rose", "fell"):
        return f"{name} {drift.way} from {start} to {now}"
    return f"{name} moved and is at {now}" if drift.way == "moved" else f"{name} shows no clear trend around {now}"
