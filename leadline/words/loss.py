"""Sentences about the policy loss."""

from __future__ import annotations

from ..facts.loss import Explanation, LossNumbers, PolicyLoss
from .numbers import counted, number, went

READ_INSTEAD = "Watch gradient norm and reward instead."


def pattern(section: PolicyLoss) -> str:
    """Return a description of the loss."""
    return _pattern(section.because, section.numbers) if section.jump is None else section.jump.say()


def loss_line(section: PolicyLoss) -> str:
    """Return the course of the loss; empty if none was logged. A jump has its own finding, so only the levels are told
    here."""
    numbers = section.numbers
    if section.because == "missing":
        return ""
    if section.because not in ("jumped", "open", "too_few"):
        return _pattern(section.because, numbers)
    moved = went(numbers.start or 0.0, numbers.now or 0.0)
    return f"{moved}; {_doubt(section)}noise ±{number(numbers.noise or 0.0)} per step"


def _doubt(section: PolicyLoss) -> str:
    return {"open": "no clear trend; ", "too_few": "too few points for a trend; "}.get(section.because, "")


def _course(does: str, numbers: LossNumbers, sign: int) -> str:
    """From where to where. A loss that turned may have moved the other way overall."""
    start, now = numbers.start or 0.0, numbers.now or 0.0
    if sign * (now - start) > 0:
        return f"{does}, {went(start, now)}"
    return f"{does} lately, {went(start, now)} overall"


def _pattern(because: Explanation, numbers: LossNumbers) -> str:
    now, noise = (number(value or 0.0) for value in (numbers.now, numbers.noise))
    exactly = f"exactly 0 at {numbers.zeros} of {numbers.points} points"
    said: dict[Explanation, str] = {
        "missing": "no policy loss logged",
        "not_numbers": f"all {numbers.points} values are NaN or Inf",
        "no_gradient": f"{exactly}, like the gradient norm: all samples score the same, so nothing is learned.",
        "zero_advantages": f"{exactly}: advantages are zero there, or the log rounds it off.",
        "one_update_zero": f"{exactly}: 0 by construction with one update per batch and centered advantages. "
        f"Its gradient is not 0. {READ_INSTEAD}",
        "kl_penalty": _kl_penalty(numbers),
        "no_baseline": f"loss = {number(numbers.reward_factor or 0.0)} × reward: the mean advantage equals the mean "
        "reward, so no baseline is subtracted. Groups of one response cause that.",
        "one_update": "about 0 by construction with one update per batch and centered advantages; the rest is noise. "
        f"Its gradient is not 0. {READ_INSTEAD}",
        "rounding": f"within the rounding of the log (steps of {number(numbers.rounding or 0.0)}): about 0 by "
        f"construction. {READ_INSTEAD}",
        "too_few": f"{counted(numbers.points, 'point')}, too few for a pattern",
        "about_zero": f"oscillates around 0 (±{noise}), as expected with centered advantages",
        "around_zero": f"oscillates around 0 (±{noise}), no trend",
        "falling": _course("falling", numbers, -1),
        "rising": f"{_course('rising', numbers, 1)}; that alone means nothing here",
        "at_rest": f"stable at {now}; noise ±{noise} per step",
        "open": f"no clear trend, now {now}",
    }
    return said[because]


def _kl_penalty(numbers: LossNumbers) -> str:
    beta = "" if numbers.kl_coefficient is None else f" (KL coefficient {number(numbers.kl_coefficient)})"
    return (
        f"loss = {number(numbers.kl_factor or 0.0)} × KL{beta}: the policy term is 0 by construction, only the "
        "KL penalty is left. Watch KL, gradient norm, and reward instead."
    )
