"""Odd but normal: the loss, clipping and what one update of the policy shows."""

from __future__ import annotations

import numpy as np

from ...facts import Facts
from ...facts.expected import BelowZero, Known, LossNearZero, LowRatios, MultipleOfKl, NothingClipped
from ...questions.bars import HABIT
from ...run import Run, Series
from ..advantages import centred
from ..policy_loss import multiple_of_kl
from ..view import View
from .rule import Rule, about_zero, finite, first_of, framework, on_policy, rests_about_zero

LOSSES = ("loss/policy", "loss/total", "loss/policy_plus_kl")


def _is_kl(run: Run) -> tuple[Series, float] | None:
    """The loss that is a multiple of the reference KL, and the multiple."""
    losses = (loss for name in LOSSES if (loss := run.get(name)) is not None)
    found = ((loss, multiple_of_kl(run, loss)) for loss in losses)
    return next(((loss, factor) for loss, factor in found if factor is not None), None)


def loss_near_zero(view: View) -> Facts | None:
    loss = first_of(view.run, *LOSSES)
    values = finite(loss)
    if loss is None or len(values) < HABIT or on_policy(view.run) is False or not centred(view.run):
        return None
    if not rests_about_zero(values) or _is_kl(view.run) is not None:
        return None
    if on_policy(view.run) is None and np.any(finite(view.run.get("clip/frac")) != 0):
        return None
    return LossNearZero(float(np.median(values)), on_policy(view.run) is True)


def negative_loss(view: View) -> Facts | None:
    loss = first_of(view.run, *LOSSES)
    values = finite(loss)
    below = int((values < 0).sum())
    # About zero it has both signs, and nobody wonders.
    if loss is None or len(values) < HABIT or 2 * below <= len(values) or rests_about_zero(values):
        return None
    return BelowZero(below, len(values))


def loss_is_kl(view: View) -> Facts | None:
    found = _is_kl(view.run)
    if found is None:
        return None
    loss, factor = found
    return MultipleOfKl(loss.key, factor)


def clip_zero(view: View) -> Facts | None:
    values = finite(first_of(view.run, "clip/frac", "clip/frac_high"))
    if len(values) < HABIT or (values != 0).any() or on_policy(view.run) is False:
        return None
    return NothingClipped(on_policy(view.run) is True, _no_update_kl(view.run))


def _no_update_kl(run: Run) -> bool:
    values = finite(run.get("kl/update"))
    return len(values) >= HABIT and not values.any()


def update_kl_zero(view: View) -> Facts | None:
    if not _no_update_kl(view.run) or on_policy(view.run) is False or clip_zero(view) is not None:
        return None
    return Known(certain=on_policy(view.run) is True)


def truncated_ratios(view: View) -> Facts | None:
    """TRL logs the ratio of trainer to sampler after truncating it, so its mean lies below 1."""
    values = finite(view.run.get("is/ratio_mean"))
    if len(values) < HABIT or not framework(view.run).startswith("trl") or np.mean(values < 1) <= 0.5:
        return None
    if rests_about_zero(values - 1):
        return None  # it scatters about 1, as one would expect
    top_p = next((value for key, value in view.run.config.raw.items() if key.rsplit(".", 1)[-1] == "top_p"), None)
    certain = isinstance(top_p, int | float) and top_p < 1
    return LowRatios(float(np.median(values)), certain)


def advantages_about_zero(view: View) -> Facts | None:
    values = finite(view.run.get("adv/mean"))
    if len(values) < HABIT or not centred(view.run) or not about_zero(values):
        return None
    return Facts()


def explained_variance_negative(view: View) -> Facts | None:
    values = finite(view.run.get("value/explained_variance"))
    quarter = max(len(values) // 4, 1)
    if len(values) < HABIT or values[:quarter].min() >= 0 or values[-quarter:].mean() <= values[:quarter].mean():
        return None
    return Facts()


RULES = (
    Rule(
        "expected.loss_near_zero",
        loss_near_zero,
        unless=("signal.no_learning_signal",),
    ),
    Rule("expected.negative_loss", negative_loss),
    Rule("expected.loss_is_kl", loss_is_kl),
    Rule("expected.clip_zero", clip_zero),
    Rule("expected.update_kl_zero", update_kl_zero),
    Rule("expected.advantages_about_zero", advantages_about_zero),
    Rule("expected.truncated_ratios", truncated_ratios),
    Rule("expected.explained_variance", explained_variance_negative),
)
