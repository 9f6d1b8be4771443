"""Sentences about the policy loss."""

from __future__ import annotations

from ..facts.loss import Explanation, LossNumbers, PolicyLoss
from .numbers import counted, number

READ_INSTEAD = "Read the gradient norm and the reward instead."


def pattern(section: PolicyLoss) -> str:
    """What the loss is, and what it does."""
    return _pattern(section.because, section.numbers) if section.jump is None else section.jump.say()


def loss_line(section: PolicyLoss) -> str:
    """The loss in its own numbers, and what it is; empty where none was logged. A jump has its own finding,
    so only the levels are told here."""
    numbers = section.numbers
    if section.because == "missing":
        return ""
    if section.because not in ("jumped", "open", "too_few"):
        return _pattern(section.because, numbers)
    start, now = number(numbers.start or 0.0), number(numbers.now or 0.0)
    return f"{start} at the start, {now} now; {_doubt(section)}noise ±{number(numbers.noise or 0.0)} per step"


def _doubt(section: PolicyLoss) -> str:
    return {"open": "no clear direction; ", "too_few": "too few points to say more; "}.get(section.because, "")


def _course(does: str, numbers: LossNumbers, sign: int) -> str:
    """Where it comes from and where it is. What turned on the way does not end on the side that it moves to."""
    start, now = numbers.start or 0.0, numbers.now or 0.0
    if sign * (now - start) > 0:
        return f"it {does}, from {number(start)} to {number(now)}"
    return f"it {does} lately; {number(start)} at the start, {number(now)} now"


def _pattern(because: Explanation, numbers: LossNumbers) -> str:
    now, noise = (number(value or 0.0) for value in (numbers.now, numbers.noise))
    exactly = f"It is exactly 0 at {numbers.zeros} of {numbers.points} points"
    said: dict[Explanation, str] = {
        "missing": "no policy loss was logged",
        "not_numbers": f"none of its {numbers.points} values is a finite number",
        "no_gradient": f"{exactly}, and so is the gradient norm: all samples score the same, nothing is learned.",
        "zero_advantages": f"{exactly}: the advantages are 0 there, or the log rounds it away.",
        "one_update_zero": f"{exactly}: with one update per batch and centred advantages its value is 0 by "
        f"construction, though its gradient is not. {READ_INSTEAD}",
        "kl_penalty": _kl_penalty(numbers),
        "no_baseline": f"It is {number(numbers.reward_factor or 0.0)} times the reward: the mean advantage equals the "
        "mean reward, so no baseline is subtracted. Groups of one answer do that.",
        "one_update": "With one update per batch and centred advantages its value is about 0 by construction, though "
        f"its gradient is not; what is left is noise. {READ_INSTEAD}",
        "rounding": f"It never leaves the rounding of the log (steps of {number(numbers.rounding or 0.0)}): about 0 by "
        f"construction. {READ_INSTEAD}",
        "too_few": f"{counted(numbers.points, 'point')}, too few to read a pattern",
        "about_zero": f"it varies around 0 by {noise} without a direction, as expected with centred advantages",
        "around_zero": f"it varies around 0 by {noise} without a direction",
        "falling": _course("falls", numbers, -1),
        "rising": f"{_course('rises', numbers, 1)}, which alone means nothing here",
        "at_rest": f"it is stable at {now}; noise ±{noise} per step",
        "open": f"no clear direction; it is at {now} now",
    }
    return said[because]


def _kl_penalty(numbers: LossNumbers) -> str:
    beta = "" if numbers.kl_coefficient is None else f", the KL coefficient {number(numbers.kl_coefficient)}"
    return (
        f"It is {number(numbers.kl_factor or 0.0)} times KL{beta}: the policy term is 0 by construction, and only the "
        "KL penalty is left. Read KL itself, the gradient norm and the reward instead."
    )
