"""Odd but normal: the KL to the reference and the KL of an update."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..facts import Facts
from ..facts.expected import Expected
from ..questions.bars import HABIT, TENTH
from ..reading.view import View
from ..run import Run, Series
from .rule import Known, Rule, finite, framework

UNSIGNED = re.compile(r"\bk[23]\b|k3-type|low_var|>= ?0")


def no_reference_kl(view: View) -> Expected | None:
    run, beta = view.run, view.run.config.kl_coefficient
    if any(series.name.startswith("kl/ref") for series in run.series):
        return None
    says = "Reference KL is not logged."
    if beta == 0:
        because = "KL coefficient is 0, so the reference policy is unused; drift is read from other metrics"
    elif beta is None and framework(run).startswith("trl"):
        because = "TRL omits it if beta is 0, its default; the log shows no other value"
    else:
        return None
    return Expected("expected.no_reference_kl", Known(certain=beta == 0), says, because)


def kl_logged_as_zero(view: View) -> Expected | None:
    values, beta = finite(view.run.get("kl/ref")), view.run.config.kl_coefficient
    if len(values) < HABIT or (values != 0).any() or beta not in (0, None):
        return None
    given = "KL coefficient is 0" if beta == 0 else "a KL coefficient of 0 does that"
    return Expected(
        "expected.kl_logged_as_zero",
        Known(certain=beta == 0),
        "Reference KL is exactly 0 at every point.",
        f"{given}; KL is logged without being computed",
    )


def negative_update_kl(view: View) -> Expected | None:
    series = view.run.get("kl/update")
    values = finite(series)
    if series is None or not len(values) or np.mean(values < 0) < TENTH or _cannot_be_negative(series, view.run):
        return None
    return Expected(
        "expected.negative_update_kl",
        Facts(),
        "Approx KL is negative at times.",
        "it is the mean log ratio of old to new policy, which scatters around a value near 0",
    )


def _cannot_be_negative(series: Series, run: Run) -> bool:
    """Whether the estimator is known to be one that never falls below zero."""
    settings = [
        str(value) for key, value in run.config.raw.items() if key.rsplit(".", 1)[-1] in ("kl_loss_type", "kl_penalty")
    ]
    told = " ".join([series.kind, *settings])
    return bool(UNSIGNED.search(told)) and not re.search(r"\bk1\b", told)


@dataclass(frozen=True, slots=True)
class TwoKeys(Facts):
    key: str
    other: str


def reward_after_kl(view: View) -> Expected | None:
    raw, after = view.run.get("reward/mean"), view.run.get("reward/after_kl_mean")
    if raw is None or after is None or view.run.config.kl_place == "loss":
        return None
    _, ours, theirs = np.intersect1d(raw.steps, after.steps, return_indices=True)
    gap = raw.values[ours] - after.values[theirs]
    gap = gap[np.isfinite(gap)]
    if len(gap) < HABIT or np.mean(gap > 0) < 0.5:
        return None
    return Expected(
        "expected.reward_after_kl",
        TwoKeys(after.key, raw.key),
        f"`{after.key}` is below `{raw.key}`.",
        "the KL penalty is subtracted; Leadline reads the reward before that",
    )


RULES = (Rule(no_reference_kl), Rule(kl_logged_as_zero), Rule(negative_update_kl), Rule(reward_after_kl))
