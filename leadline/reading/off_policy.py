"""Samples that the present policy did not write, as in asynchronous training: how many of them count, how old they are,
and whether those that are dropped earn another reward."""

from __future__ import annotations

import numpy as np

from ..curve.bins import LEAST
from ..facts import Evidence, Facts, Finding, Severity
from ..facts.off_policy import DroppedReward, FewerEffectiveSamples, OlderSamples
from ..questions.bars import DOUBLED, EVEN, SAID
from ..questions.level import last_step_before, level_now, paths_now, start_of
from ..questions.scatter import scatter_ratio
from ..questions.way import net_change
from ..run import Series
from .reward import HEADLINE
from .view import View

EFFECTIVE, GRADIENT = "is/ess_frac", "grad_norm"
AGES = ("off_policy/staleness_mean", "off_policy/staleness_avg", "off_policy/staleness_max")  # the first logged is read
DROPPED, KEPT = "reward/dropped_mean", ("reward/kept_mean", HEADLINE)


def read(view: View) -> tuple[Finding, ...]:
    """What asynchronous and filtered sampling do to the signal."""
    return (*_effective(view), *_staleness(view), *_dropped(view))


def _effective(view: View) -> tuple[Finding, ...]:
    """The effective sample size has halved. Where gradient norms scatter more since, that is known to end badly."""
    series, curve = view.run.get(EFFECTIVE), view.curve(EFFECTIVE)
    change, paths = net_change(curve), paths_now(curve)
    if series is None or curve is None or change is None or paths is None:
        return ()
    start, now = start_of(curve, series), level_now(curve, series)
    p = min(change.fell, paths.below(EVEN * start))
    if p < SAID:
        return ()
    since = last_step_before(curve, (start + now) / 2, way=-1.0)
    norm = view.run.get(GRADIENT)
    scatter = None if norm is None else scatter_ratio(norm, since)
    unsteady = scatter is not None and scatter > DOUBLED
    facts = FewerEffectiveSamples(start, now, scatter if unsteady else None)
    found = _finding("signal.effective_samples", p, facts, since, series, "concern" if unsteady else "note")
    return (found,)


def _staleness(view: View) -> tuple[Finding, ...]:
    series = next((each for name in AGES if (each := view.run.get(name)) is not None), None)
    if series is None:
        return ()
    curve = view.curve(series.name)
    change, paths = net_change(curve), paths_now(curve)
    if curve is None or change is None or paths is None:
        return ()
    start, now = start_of(curve, series), level_now(curve, series)
    p = min(change.rose, paths.above(start + 1))  # one version of the policy: an update
    if p < SAID:
        return ()
    since = last_step_before(curve, (start + now) / 2, way=1.0)
    facts = OlderSamples(start, now, series.name.endswith("_max"))
    return (_finding("signal.staleness", p, facts, since, series, "note"),)


def _dropped(view: View) -> tuple[Finding, ...]:
    """Dropped samples earn clearly more or less than kept ones, now."""
    dropped = view.run.get(DROPPED)
    kept = next((each for name in KEPT if (each := view.run.get(name)) is not None), None)
    if dropped is None or kept is None:
        return ()
    steps, ours, theirs = np.intersect1d(dropped.steps[dropped.finite], kept.steps[kept.finite], return_indices=True)
    if len(steps) < LEAST:
        return ()
    low, high = dropped.values[dropped.finite][ours], kept.values[kept.finite][theirs]
    gaps = Series("reward/dropped_gap", dropped.key, "difference", steps, low - high)
    curve = view.fit(gaps)
    paths = paths_now(curve)
    if paths is None:
        return ()
    p = max(paths.above(0.0), paths.below(0.0))
    if p < SAID:
        return ()
    recent = max(len(steps) // 10, 1)
    kept_now = float(np.mean(high[-recent:]))
    facts = DroppedReward(kept_now + level_now(curve, gaps), kept_now)
    return (_finding("signal.dropped_reward", p, facts, int(steps[0]), dropped, "note"),)


def _finding(name: str, p: float, facts: Facts, since: int, series: Series, severity: Severity) -> Finding:
    steps = series.steps[series.finite]
    evidence = Evidence(series.name, int(steps[0]), int(steps[-1]))
    return Finding(name, round(p, 4), severity, facts=facts, since_step=since, evidence=(evidence,))
