"""Odd but normal: the loss, clipping and what one update of the policy shows."""

from __future__ import annotations

import numpy as np

from ...run import Run, Series
from ..advantages import centred
from ..policy_loss.meaning import multiple_of_kl
from ..reward import number
from ..view import View
from .rule import Rule, about_zero, finite, first_of, on_policy, rests_about_zero

LOSSES = ("loss/policy", "loss/total", "loss/policy_plus_kl")
FEWEST = 5  # points: fewer show no habit
SELDOM = 0.05  # of the points: told as their number, not as a share
CENTRED = 1.0  # of its own scatter: a mean closer to zero is "about zero"


def _is_kl(run: Run) -> tuple[Series, float] | None:
    """The loss that is a multiple of the reference KL, and the multiple."""
    losses = (loss for name in LOSSES if (loss := run.get(name)) is not None)
    found = ((loss, multiple_of_kl(run, loss)) for loss in losses)
    return next(((loss, factor) for loss, factor in found if factor is not None), None)


def loss_near_zero(view: View) -> tuple[str, str] | None:
    loss = first_of(view.run, *LOSSES)
    values = finite(loss)
    if loss is None or len(values) < FEWEST or on_policy(view.run) is False or not centred(view.run):
        return None
    if not rests_about_zero(values, CENTRED) or _is_kl(view.run) is not None:
        return None
    if on_policy(view.run) is None and np.any(finite(view.run.get("clip/frac")) != 0):
        return None
    says = (
        f"The loss stays about zero (median {number(float(np.median(values)))}). That is normal here; it says nothing."
    )
    told = "with one update per batch" if on_policy(view.run) else "if each batch is used for one update"
    return says, f"{told} the ratio is 1 and centred advantages cancel: the value is zero, its gradient is not"


def negative_loss(view: View) -> tuple[str, str] | None:
    loss = first_of(view.run, *LOSSES)
    values = finite(loss)
    below = int((values < 0).sum())
    if loss is None or len(values) < FEWEST or not below:
        return None
    seldom = below < SELDOM * len(values)
    where = f"{below} of {len(values)} points" if seldom else f"{100 * below / len(values):.0f} % of points"
    says = f"The policy loss is below zero at {where}. That is normal."
    return says, "it is minus the weighted advantage, not an error: its sign carries no meaning and it need not fall"


def loss_is_kl(view: View) -> tuple[str, str] | None:
    found = _is_kl(view.run)
    if found is None:
        return None
    loss, factor = found
    says = f"The loss follows KL: it is {number(factor)} times the reference KL. That is normal here."
    return says, f"the policy term cancels, so `{loss.key}` shows the KL penalty alone"


def clip_zero(view: View) -> tuple[str, str] | None:
    values = finite(first_of(view.run, "clip/frac", "clip/frac_high"))
    if len(values) < FEWEST or (values != 0).any() or on_policy(view.run) is False:
        return None
    if on_policy(view.run):
        return "The clip fraction is exactly 0 at every point. That is normal here.", (
            "each batch is used for one update, so the ratio is 1 and nothing can be clipped"
        )
    return "The clip fraction is exactly 0 at every point.", (
        "one update per batch gives just that; the configuration does not say how many there are"
    )


def update_kl_zero(view: View) -> tuple[str, str] | None:
    values = finite(view.run.get("kl/update"))
    if len(values) < FEWEST or (values != 0).any() or on_policy(view.run) is False:
        return None
    told = "each batch is used for one update" if on_policy(view.run) else "one update per batch gives just that"
    return "The update KL is exactly 0 at every point. That is normal here.", (
        f"{told}: it is measured before the update, where old and new policy are the same"
    )


def advantages_about_zero(view: View) -> tuple[str, str] | None:
    values = finite(view.run.get("adv/mean"))
    if len(values) < FEWEST or not centred(view.run) or not about_zero(values, CENTRED):
        return None
    return "The mean advantage is about 0 throughout. That is normal here.", (
        "advantages are centred within each group or batch, whatever the reward does"
    )


def explained_variance_negative(view: View) -> tuple[str, str] | None:
    values = finite(view.run.get("value/explained_variance"))
    quarter = max(len(values) // 4, 1)
    if len(values) < FEWEST or values[:quarter].min() >= 0 or values[-quarter:].mean() <= values[:quarter].mean():
        return None
    return "The critic explains less than nothing at first (explained variance below 0). That is normal early on.", (
        "an untrained critic is worse than the mean; it is rising since"
    )


RULES = (
    Rule(
        "expected.loss_near_zero",
        "centred advantages, one update per batch or unknown, loss about 0",
        loss_near_zero,
        unless=("signal.no_learning_signal",),
    ),
    Rule("expected.negative_loss", "a policy loss below zero", negative_loss),
    Rule("expected.loss_is_kl", "loss proportional to the reference KL", loss_is_kl),
    Rule("expected.clip_zero", "clip fraction exactly 0 everywhere, not known to be off-policy", clip_zero),
    Rule("expected.update_kl_zero", "update KL exactly 0 everywhere, not known to be off-policy", update_kl_zero),
    Rule("expected.advantages_about_zero", "mean advantage about 0, centred advantages", advantages_about_zero),
    Rule("expected.explained_variance", "explained variance below 0 at first and rising", explained_variance_negative),
)
