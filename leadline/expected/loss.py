"""Odd but normal: the loss, clipping and what one update of the policy shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..facts import Facts
from ..facts.expected import Expected
from ..questions.bars import HABIT
from ..reading.advantages import centred
from ..reading.policy_loss import multiple_of_kl
from ..reading.view import View
from ..run import Run, Series
from ..words.numbers import number, percent
from .rule import Known, Rule, about_zero, finite, first_of, on_policy, rests_about_zero

LOSSES = ("loss/policy", "loss/total", "loss/policy_plus_kl")


@dataclass(frozen=True, slots=True)
class LossNearZero(Facts):
    median: float
    one_update: bool  # known to be one a batch


def loss_near_zero(view: View) -> Expected | None:
    loss = first_of(view.run, *LOSSES)
    values = finite(loss)
    if loss is None or len(values) < HABIT or on_policy(view.run) is False or not centred(view.run):
        return None
    if not rests_about_zero(values) or _is_kl(view.run) is not None:
        return None
    if on_policy(view.run) is None and np.any(finite(view.run.get("clip/frac")) != 0):
        return None
    facts = LossNearZero(float(np.median(values)), on_policy(view.run) is True)
    given = "with one update per batch" if facts.one_update else "if each batch is used for one update"
    return Expected(
        "expected.loss_near_zero",
        facts,
        f"Loss stays near zero (median {number(facts.median)}).",
        f"{given}, the ratio is 1 and centered advantages cancel; the value is zero, its gradient is not",
    )


@dataclass(frozen=True, slots=True)
class BelowZero(Facts):
    """How often something is below zero."""

    below: int
    points: int


def negative_loss(view: View) -> Expected | None:
    loss = first_of(view.run, *LOSSES)
    values = finite(loss)
    below = int((values < 0).sum())
    # About zero it has both signs, and nobody wonders.
    if loss is None or len(values) < HABIT or 2 * below <= len(values) or rests_about_zero(values):
        return None
    return Expected(
        "expected.negative_loss",
        BelowZero(below, len(values)),
        f"Policy loss is negative at {percent(below / len(values))} of points.",
        "it is minus the weighted advantage, not an error; its sign means nothing and it need not decrease",
    )


@dataclass(frozen=True, slots=True)
class MultipleOfKl(Facts):
    key: str
    factor: float


def loss_is_kl(view: View) -> Expected | None:
    found = _is_kl(view.run)
    if found is None:
        return None
    loss, factor = found
    return Expected(
        "expected.loss_is_kl",
        MultipleOfKl(loss.key, factor),
        f"Loss follows KL ({number(factor)} × reference KL).",
        f"the policy term cancels, so `{loss.key}` shows the KL penalty alone",
    )


def _is_kl(run: Run) -> tuple[Series, float] | None:
    """The loss that is a multiple of the reference KL, and the multiple."""
    losses = (loss for name in LOSSES if (loss := run.get(name)) is not None)
    found = ((loss, multiple_of_kl(run, loss)) for loss in losses)
    return next(((loss, factor) for loss, factor in found if factor is not None), None)


@dataclass(frozen=True, slots=True)
class NothingClipped(Known):
    """The same of a clip fraction of exactly 0."""

    update_kl: bool = False  # the KL of the update is exactly 0 as well, for the same reason


def clip_zero(view: View) -> Expected | None:
    values, update_kl = finite(first_of(view.run, "clip/frac", "clip/frac_high")), finite(view.run.get("kl/update"))
    if len(values) < HABIT or (values != 0).any() or on_policy(view.run) is False:
        return None
    facts = NothingClipped(on_policy(view.run) is True, len(update_kl) >= HABIT and not update_kl.any())
    says = "Clip fraction is exactly 0 at every point."
    if facts.update_kl:
        given = "each batch is used for one update" if facts.certain else "one update per batch does that"
        says = "Clip fraction and approx KL are exactly 0 at every point."
        because = f"{given}; old and new policy are identical when compared"
    elif facts.certain:
        because = "each batch is used for one update, so no ratio can be clipped"
    else:
        because = "one update per batch does that; the config doesn't set the number of updates"
    return Expected("expected.clip_zero", facts, says, because)


def advantages_about_zero(view: View) -> Expected | None:
    values = finite(view.run.get("adv/mean"))
    if len(values) < HABIT or not centred(view.run) or not about_zero(values):
        return None
    return Expected(
        "expected.advantages_about_zero",
        Facts(),
        "Mean advantage stays near 0.",
        "advantages are centered within each group or batch, whatever the reward",
    )


RULES = (
    Rule(loss_near_zero, unless=("signal.no_learning_signal",)),
    Rule(negative_loss),
    Rule(loss_is_kl),
    Rule(clip_zero),
    Rule(advantages_about_zero),
)
