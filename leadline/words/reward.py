"""Sentences about the reward."""

from __future__ import annotations

from ..facts.reward import RewardReading, Trajectory, TurningPoint
from .numbers import apart, counted, number, percent, span, went

LIKELY = 0.15  # probability: a shape below it is not named as a rival


def trajectory(reading: RewardReading) -> str:
    """Return the course of the training reward."""
    numbers = reading.trajectory
    until = (
        "" if numbers.last_number_step is None else f"until step {numbers.last_number_step}, its last finite value: "
    )
    since = "" if numbers.changed_at is None else f"since the change at step {numbers.changed_at}: "
    return f"{until}{since}{_trajectory(reading, numbers)}"


def _trajectory(reading: RewardReading, numbers: Trajectory) -> str:
    if numbers.state == "missing" or numbers.start is None or numbers.now is None or numbers.noise is None:
        if numbers.state == "not_numbers":
            return f"all {numbers.points} values are NaN or Inf"
        return "no reward metric found in the log"
    now = number(numbers.now)
    if numbers.state == "constant":
        return f"constant at {now} (all {numbers.points} points)"
    if numbers.state == "too_few":
        return f"{counted(numbers.points, 'point')} logged, {numbers.points_needed} needed"
    noise = f"noise ±{number(numbers.noise)} per step"
    moved = f"{_way(numbers.start, numbers.now, numbers.turn)}; {noise}"
    said = {
        "accelerating": f"rising and accelerating: {moved}",
        "rising": f"still rising: {moved}",
        "decelerating": f"still rising but slowing: {moved}",
        "flat": f"{_plateau(numbers.start, numbers.now)}; {noise}",
        "declining": f"declining: {moved}",
        "noise": f"no trend, only noise around {now}; {noise}",
    }
    if reading.shape == "peaked" and reading.peak is not None and numbers.peak is not None:
        when = f"step ~{reading.peak.step} ({span(*reading.peak.interval)})"
        return f"rose {went(numbers.start, numbers.peak)} by {when}, now {now}; {noise}"
    return said.get(reading.shape) or f"{_rivals(reading)}{went(numbers.start, numbers.now)}; {noise}"


def _way(start: float, now: float, turn: TurningPoint | None) -> str:
    """From where to where, and where it began if that is another level."""
    if turn is None:
        return went(start, now)
    since = "" if turn.step is None else f" since step {turn.step}"
    return f"{went(turn.level, now)}{since} (started at {number(start)})"


def _plateau(start: float, now: float) -> str:
    if len(set(apart(start, now))) == 1:
        return f"plateaued at {number(now)}, its starting level"
    return f"{'rose' if now > start else 'dropped'} {went(start, now)}, plateaued"


def _ways(reading: RewardReading) -> dict[str, float]:
    p = reading.probabilities
    return {
        "rising": p.get("rising", 0.0) + p.get("accelerating", 0.0) + p.get("decelerating", 0.0),
        "falling": p.get("declining", 0.0) + p.get("peaked", 0.0),
        "flat": p.get("flat", 0.0),
        "only noise": p.get("noise", 0.0),
    }


def _rivals(reading: RewardReading) -> str:
    """Return the likely directions if none is certain."""
    ways = _ways(reading)
    likely = sorted(((share, way) for way, share in ways.items() if share > LIKELY), reverse=True)
    if not likely:
        return ""
    named = " or ".join(f"{way} ({percent(share)})" for share, way in likely)
    first = likely[0][0]
    return f"{'likely' if first > 1 - first else 'unclear,'} {named}; "  # likelier than all else together
