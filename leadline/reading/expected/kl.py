"""Odd but normal: the KL to the reference and the KL of an update."""

from __future__ import annotations

import re

import numpy as np

from ...facts import Facts
from ...facts.expected import Known, Resets, TwoKeys
from ...questions.bars import HABIT, TENTH
from ...run import Run, Series, Values
from ..view import View
from .rule import Rule, finite, first_of, framework

UNSIGNED = re.compile(r"\bk[23]\b|k3-type|low_var|>= ?0")


def _cannot_be_negative(series: Series, run: Run) -> bool:
    """Whether the estimator is known to be one that never falls below zero."""
    settings = [
        str(value) for key, value in run.config.raw.items() if key.rsplit(".", 1)[-1] in ("kl_loss_type", "kl_penalty")
    ]
    told = " ".join([series.kind, *settings])
    return bool(UNSIGNED.search(told)) and not re.search(r"\bk1\b", told)


def _often_negative(values: Values) -> bool:
    return len(values) > 0 and float(np.mean(values < 0)) >= TENTH


def no_reference_kl(view: View) -> Facts | None:
    run = view.run
    if any(series.name.startswith("kl/ref") for series in run.series):
        return None
    if run.config.kl_coefficient == 0:
        return Known(certain=True)
    trl_default = run.config.kl_coefficient is None and framework(run).startswith("trl")  # beta is 0, and no KL logged
    return Known(certain=False) if trl_default else None


def kl_logged_as_zero(view: View) -> Facts | None:
    values = finite(view.run.get("kl/ref"))
    if len(values) < HABIT or (values != 0).any() or view.run.config.kl_coefficient not in (0, None):
        return None
    return Known(certain=view.run.config.kl_coefficient == 0)


def negative_kl(view: View) -> Facts | None:
    series = first_of(view.run, "kl/ref", "kl/ref_k1", "kl/ref_seq_sum")
    values = finite(series)
    if series is None or not _often_negative(values) or _cannot_be_negative(series, view.run):
        return None
    return Known(certain=re.search(r"\bk1\b", series.kind) is not None)


def negative_update_kl(view: View) -> Facts | None:
    series = view.run.get("kl/update")
    values = finite(series)
    if series is None or not _often_negative(values) or _cannot_be_negative(series, view.run):
        return None
    return Facts()


def sawtooth_kl(view: View) -> Facts | None:
    run = view.run
    kl = first_of(run, "kl/ref", "kl/ref_k1", "kl/ref_seq_sum")
    if kl is None:
        return None
    resets = [event.step for event in run.events if event.kind == "reference_reset"]
    every = run.config.reference_sync_steps
    inside = [step for step in resets if kl.steps[0] < step <= kl.steps[-1]]
    if not inside:
        return None
    return Resets(inside[0], len(inside) > 1, every or None)


def kl_starts_at_zero(view: View) -> Facts | None:
    series = view.run.get("kl/ref")
    values = finite(series)
    young = HABIT <= len(values) <= 1 / TENTH
    if series is None or not young or values[0] != 0 or not (values[1:] != 0).any():
        return None
    return Facts()


def reward_below_raw(view: View) -> Facts | None:
    raw, after = view.run.get("reward/mean"), view.run.get("reward/after_kl_mean")
    if raw is None or after is None or view.run.config.kl_place == "loss":
        return None
    _, ours, theirs = np.intersect1d(raw.steps, after.steps, return_indices=True)
    gap = raw.values[ours] - after.values[theirs]
    gap = gap[np.isfinite(gap)]
    if len(gap) < HABIT or np.mean(gap > 0) < 0.5:
        return None
    return TwoKeys(after.key, raw.key)


RULES = (
    Rule("expected.no_reference_kl", no_reference_kl),
    Rule("expected.kl_logged_as_zero", kl_logged_as_zero),
    Rule("expected.negative_kl", negative_kl),
    Rule("expected.negative_update_kl", negative_update_kl),
    Rule("expected.sawtooth_kl", sawtooth_kl),
    Rule("expected.kl_starts_at_zero", kl_starts_at_zero),
    Rule("expected.reward_after_kl", reward_below_raw),
)
