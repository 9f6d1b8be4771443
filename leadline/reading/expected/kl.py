"""Odd but normal: the KL to the reference and the KL of an update."""

from __future__ import annotations

import re

import numpy as np

from ...run import Run, Series
from ..view import View
from .rule import Rule, finite, first_of, framework

FEWEST = 5  # points: fewer show no habit
UNSIGNED = re.compile(r"\bk[23]\b|k3-type|low_var|>= ?0")


def _cannot_be_negative(series: Series, run: Run) -> bool:
    """Whether the estimator is known to be one that never falls below zero."""
    settings = [
        str(value) for key, value in run.config.raw.items() if key.rsplit(".", 1)[-1] in ("kl_loss_type", "kl_penalty")
    ]
    told = " ".join([series.kind, *settings])
    return bool(UNSIGNED.search(told)) and not re.search(r"\bk1\b", told)


def no_reference_kl(view: View) -> tuple[str, str] | None:
    run = view.run
    if any(series.name.startswith("kl/ref") for series in run.series):
        return None
    if run.config.kl_coefficient == 0:
        return "No reference KL is logged. That is normal here.", (
            "the KL coefficient is 0, so the reference is never asked; drift is read from other signals"
        )
    if run.config.kl_coefficient is None and framework(run).startswith(("trl-grpo", "trl-rloo", "trl")):
        return (
            "No reference KL is logged.",
            "TRL leaves it out when beta is 0, which is its default; nothing says otherwise",
        )
    return None


def kl_logged_as_zero(view: View) -> tuple[str, str] | None:
    values = finite(view.run.get("kl/ref"))
    if len(values) < FEWEST or (values != 0).any() or view.run.config.kl_coefficient not in (0, None):
        return None
    told = "the KL coefficient is 0" if view.run.config.kl_coefficient == 0 else "a KL coefficient of 0 gives just that"
    return "The reference KL is exactly 0 at every point.", f"{told}: it is written without being computed"


def negative_kl(view: View) -> tuple[str, str] | None:
    series = first_of(view.run, "kl/ref", "kl/ref_k1", "kl/ref_seq_sum")
    values = finite(series)
    if series is None or not (values < 0).any() or _cannot_be_negative(series, view.run):
        return None
    told = (
        ""
        if re.search(r"\bk1\b", series.kind)
        else "; the log does not name its estimator, but k2 and k3 are never below"
    )
    return "The reference KL is below zero at times. That is normal here.", (
        f"an estimate by the log ratio of the sampled tokens (k1) is signed, only its mean is a KL{told}"
    )


def negative_update_kl(view: View) -> tuple[str, str] | None:
    series = view.run.get("kl/update")
    values = finite(series)
    if series is None or not (values < 0).any() or _cannot_be_negative(series, view.run):
        return None
    return "The update KL is below zero at times. That is normal here.", (
        "it is the mean log ratio of old to new policy, which is signed and scatters about a value near 0"
    )


def sawtooth_kl(view: View) -> tuple[str, str] | None:
    run = view.run
    kl = first_of(run, "kl/ref", "kl/ref_k1", "kl/ref_seq_sum")
    if kl is None:
        return None
    resets = [event.step for event in run.events if event.kind == "reference_reset"]
    every = run.config.reference_sync_steps
    inside = [step for step in resets if kl.steps[0] < step <= kl.steps[-1]]
    if not inside:
        return None
    often = (
        f"every {every} steps" if every else f"at step {inside[0]}" + (" and again later" if len(inside) > 1 else "")
    )
    return "The reference KL falls back and climbs again. That is normal here.", (
        f"the reference is set to the policy {often}; KL then measures the way since that point, not since the start"
    )


def kl_starts_at_zero(view: View) -> tuple[str, str] | None:
    series = view.run.get("kl/ref")
    values = finite(series)
    if series is None or len(values) < FEWEST or values[0] != 0 or not (values[1:] != 0).any():
        return None
    return "The reference KL is exactly 0 at the first point. That is normal.", (
        "before the first update the policy is the reference; a resumed run would not start there"
    )


def reward_below_raw(view: View) -> tuple[str, str] | None:
    raw, after = view.run.get("reward/mean"), view.run.get("reward/after_kl_mean")
    if raw is None or after is None or view.run.config.kl_place == "loss":
        return None
    _, ours, theirs = np.intersect1d(raw.steps, after.steps, return_indices=True)
    gap = raw.values[ours] - after.values[theirs]
    gap = gap[np.isfinite(gap)]
    if len(gap) < FEWEST or np.mean(gap > 0) < 0.5:
        return None
    return f"`{after.key}` lies below `{raw.key}`. That is normal here.", (
        "the KL penalty is taken off the reward; Leadline reads the reward before it"
    )


RULES = (
    Rule("expected.no_reference_kl", "no kl/ref series and a KL coefficient of 0, or TRL's default", no_reference_kl),
    Rule("expected.kl_logged_as_zero", "kl/ref exactly 0 everywhere at coefficient 0 or unknown", kl_logged_as_zero),
    Rule("expected.negative_kl", "kl/ref below 0 and its estimator not known to be k2 or k3", negative_kl),
    Rule("expected.negative_update_kl", "kl/update below 0 and not known to be k2 or k3", negative_update_kl),
    Rule("expected.sawtooth_kl", "a reference reset inside the span of kl/ref", sawtooth_kl),
    Rule("expected.kl_starts_at_zero", "kl/ref exactly 0 at its first point only", kl_starts_at_zero),
    Rule("expected.reward_after_kl", "reward after the KL penalty below the reward before it", reward_below_raw),
)
