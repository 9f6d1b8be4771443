"""Sentences about the reward."""

from __future__ import annotations

from ..facts.reward import RewardReading, Trajectory, TurningPoint
from .numbers import apart, counted, number, percent

LIKELY = 0.15  # probability: a shape below it is not named as a rival


def trajectory(reading: RewardReading) -> str:
    """What the training reward does."""
    numbers = reading.trajectory
    until = "" if numbers.last_number_step is None else f"up to step {numbers.last_number_step}, its last number: "
    since = "" if numbers.changed_at is None else f"since the change at step {numbers.changed_at}: "
    return f"{until}{since}{_trajectory(reading, numbers)}"


def _trajectory(reading: RewardReading, numbers: Trajectory) -> str:
    if numbers.state == "missing" or numbers.start is None or numbers.now is None or numbers.noise is None:
        if numbers.state == "not_numbers":
            return f"none of its {numbers.points} values is a finite number"
        return "no training reward was found in the log"
    start, now = apart(numbers.start, numbers.now)
    if numbers.state == "constant":
        return f"{now} at all {numbers.points} points; it never moved"
    if numbers.state == "too_few":
        return f"{counted(numbers.points, 'point')} so far; at least {numbers.points_needed} are needed to say anything"
    noise = f"noise ±{number(numbers.noise)} per step"
    moved = f"{_way(numbers.start, numbers.now, numbers.turn)}; {noise}"
    said = {
        "accelerating": f"still rising and speeding up: {moved}",
        "rising": f"still rising: {moved}",
        "decelerating": f"still rising but slowing down: {moved}",
        "flat": _plateau(start, now, noise, rose=numbers.now > numbers.start),
        "declining": f"falling: {moved}",
        "noise": f"no trend, only noise around {now}; {noise}",
    }
    if reading.shape == "peaked" and reading.peak is not None and numbers.peak is not None:
        low, high = reading.peak.interval
        return (
            f"it rose from {start} to {number(numbers.peak)} around step {reading.peak.step} ({low} to {high}) "
            f"and is at {now} now; {noise}"
        )
    return said.get(reading.shape) or f"{_rivals(reading)}{start} at the start, {now} now; {noise}"


def _way(start: float, now: float, turn: TurningPoint | None) -> str:
    """From where to where, and where it began if that is another place."""
    if turn is None:
        return "from {} to {}".format(*apart(start, now))
    when = "" if turn.step is None else f" at step {turn.step}"
    first, last = apart(turn.level, now)
    return f"from {first}{when} to {last} ({number(start)} at the start)"


def _plateau(start: str, now: str, noise: str, *, rose: bool) -> str:
    if start == now:
        return f"it has plateaued at {now}, where it started; {noise}"
    return f"it {'rose' if rose else 'fell'} from {start} to {now} and has plateaued; {noise}"


def p_shape(reading: RewardReading) -> float:
    """How likely the word for the reward is: a rise is one, at whatever pace."""
    if reading.shape == "rising":
        return _ways(reading)["rising"]
    return reading.probabilities.get(reading.shape, 0.0)


def _ways(reading: RewardReading) -> dict[str, float]:
    p = reading.probabilities
    return {
        "rising": p.get("rising", 0.0) + p.get("accelerating", 0.0) + p.get("decelerating", 0.0),
        "falling": p.get("declining", 0.0) + p.get("peaked", 0.0),
        "flat": p.get("flat", 0.0),
        "only noise": p.get("noise", 0.0),
    }


def _rivals(reading: RewardReading) -> str:
    """Which way it may go, where no word is sure."""
    ways = _ways(reading)
    likely = sorted(((share, way) for way, share in ways.items() if share > LIKELY), reverse=True)
    if not likely:
        return ""
    named = " or ".join(f"{way} ({percent(share)})" for share, way in likely)
    first = likely[0][0]
    return f"{'probably' if first > 1 - first else 'not clear yet:'} {named}; "  # likelier than all else together
