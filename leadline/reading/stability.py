"""Stability: gradient norm, entropy, clipping, sampler mismatch and NaN against the run's own start.

None of these is good or bad by its level, nor by its direction alone: entropy falls and gradients grow in runs that
learn well. What counts is the company they keep, first of all whether reward is lost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..curve import Curve
from ..facts import Evidence, Facts, Finding, Severity
from ..facts.stability import ClipGrew, EntropyMoved, GradientNorm, SamplerMismatch
from ..questions.bars import EVEN, HABIT, SAID, TENFOLD
from ..questions.best import top_step
from ..questions.direction import p_rising
from ..questions.fall import p_fallen
from ..questions.growth import (
    growth_of,
    logarithm,
    may_have_grown,
    may_have_multiplied,
    p_multiplied,
    p_visibly_grew,
)
from ..questions.level import level_now, levels_at, paths_now, start_of, steps_seen
from ..questions.way import p_climbed, p_sank, since_of
from ..run import Series
from . import loud
from .not_numbers import not_numbers
from .view import HEADLINE, View

WATCHED = ("grad_norm", "loss/policy", "loss/total", "kl/ref", "kl/update", "entropy")
RATIOS = ("is/ratio_mean", "is/update_ratio_mean")  # 1 is perfect: their distance from it is what grows
FALLS = ("mismatch/pearson",)  # 1 is perfect, and the most: what is missing to it grows
MOST = 3  # mismatch series that are read


def read(view: View) -> tuple[Finding, ...]:
    """Trends and breaks that say the optimisation is coming apart."""
    reward = view.curve(HEADLINE)
    gone, up = p_fallen(reward), p_rising(reward)
    return (
        *_not_numbers(view),
        *loud.read(view),
        *_gradient(view, gone, up),
        *_entropy(view, gone),
        *_clip(view, gone),
        *_mismatch(view, gone, up),
    )


def _gradient(view: View, gone: float, up: float) -> tuple[Finding, ...]:
    """A gradient norm that exploded, or went out, while reward was lost; or grew many times over without gain."""
    series = view.run.get("grad_norm")
    if series is None or not (series.finite & (series.values > 0)).any():
        return ()
    logs = logarithm(series)
    if gone <= SAID and not may_have_multiplied(logs):
        return ()
    curve = view.fit(logs)
    if not curve.decidable:
        return ()
    growth, lost = growth_of(curve, series), gone > SAID
    manifold = growth.now > TENFOLD * growth.start > 0  # no reward that rises explains as much
    grew = growth.p_grew * (1.0 if manifold else 1 - up)
    if lost and growth.jump is not None:
        step = round(growth.jump.step)
        facts = GradientNorm("jumped", growth.start, growth.now, reward_lost=True, step=step, factor=growth.factor)
        return (_finding("stability.grad_norm", "grad_norm", curve, growth.jump.probability * gone, facts, step),)
    if grew > SAID:
        facts = GradientNorm("grew", growth.start, growth.now, reward_lost=lost, reward_rose=up > EVEN)
        severity: Severity = "concern" if lost else "note"
        return (_finding("stability.grad_norm", "grad_norm", curve, grew, facts, severity=severity),)
    shrank = growth.p_shrank * (1 - _p_higher_than_at_the_top(view, curve)) if lost else 0.0
    if shrank > SAID and growth.now > 0:  # a norm of 0 is told as no learning signal
        facts = GradientNorm("shrank", growth.start, growth.now, reward_lost=True)
        return (_finding("stability.grad_norm", "grad_norm", curve, gone * shrank, facts),)
    return ()


def _p_higher_than_at_the_top(view: View, curve: Curve) -> float:
    """That a metric stands higher now than when the reward was highest. What moved while the reward rose, and moved
    back since, did not move while it was lost."""
    reward, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    now = paths_now(curve)
    if reward is None or logged is None or now is None or not reward.decidable:
        return EVEN
    then = levels_at(curve, np.asarray([float(top_step(reward, logged))]))[:, 0]
    return float((now.drawn > then).mean())


def _entropy(view: View, gone: float) -> tuple[Finding, ...]:
    """Entropy that exploded or collapsed together with the reward. Falling entropy with reward kept is convergence,
    rising entropy with reward kept is exploration."""
    curve, logged = (view.curve("entropy"), view.run.get("entropy")) if gone > SAID else (None, None)
    if curve is None or logged is None or not curve.decidable:
        return ()
    since = _p_higher_than_at_the_top(view, curve)
    up, down = gone * p_climbed(curve) * since, gone * p_sank(curve) * (1 - since)
    if max(up, down) <= SAID:
        return ()
    facts = EntropyMoved(up > down, start_of(curve, logged), level_now(curve, logged))
    return (_finding("stability.entropy", "entropy", curve, max(up, down), facts),)


def _clip(view: View, gone: float) -> tuple[Finding, ...]:
    """A clip fraction that grew while reward was lost: updates too large for the trust region."""
    curve, logged = (view.curve("clip/frac"), view.run.get("clip/frac")) if gone > SAID else (None, None)
    if curve is None or logged is None or not curve.decidable:
        return ()
    p = gone * p_climbed(curve) * _p_higher_than_at_the_top(view, curve)
    if p <= SAID:
        return ()
    facts = ClipGrew(start_of(curve, logged), level_now(curve, logged))
    return (_finding("stability.clip", "clip/frac", curve, p, facts),)


def _mismatch(view: View, gone: float, up: float) -> tuple[Finding, ...]:
    """Trainer and sampler growing apart: the surest of the series that show it. Some growth comes with any policy that
    sharpens; it is a concern where it is manifold, or reward is lost."""
    names = view.names(
        lambda name: (
            name.startswith(("mismatch/", "is/")) and not any(part in name for part in ("update", "std", "ess_frac"))
        )
    )
    turned = [series for name in names[:MOST] if (series := _up_is_worse(view.run.get(name))) is not None]
    grown = [(p_visibly_grew(view.fit(series)), series) for series in turned if may_have_grown(series)]
    surely = [(p, series) for p, series in grown if p > SAID]
    if not surely:
        return ()
    p, series = max(surely, key=lambda found: found[0])
    curve = view.fit(series)
    severity: Severity = "concern" if up <= SAID and max(p_multiplied(curve), gone) > SAID else "note"
    facts = SamplerMismatch(series.name, abs(start_of(curve, series)), abs(level_now(curve, series)), len(surely))
    return (_finding("signal.sampler_mismatch", series.name, curve, p, facts, severity=severity),)


def _up_is_worse(series: Series | None) -> Series | None:
    """A mismatch series, turned so that up is worse."""
    if series is None or not series.finite.any():
        return None
    if series.name in RATIOS:
        return replace(series, values=np.abs(series.values - 1))
    if series.name in FALLS:
        return replace(series, values=1 - series.values)
    return series


def _not_numbers(view: View) -> tuple[Finding, ...]:
    """One finding for all watched series that hold NaN or infinities; the reward's own are told with the reward. A
    series without a single number was not computed, and nothing of it stopped; only a loss always is."""
    watched = [series for name in WATCHED if (series := view.run.get(name)) is not None and not series.finite.all()]
    bad = [series for series in watched if series.finite.any() or series.name.startswith("loss/")]
    if not bad:
        return ()
    ended = any(not series.finite[-1] for series in bad)
    warming_up = all(series.finite[HABIT:].all() for series in bad)  # a loss scale that finds its size skips steps
    return (not_numbers(bad, "critical" if ended else "note" if warming_up else "concern"),)


def _finding(
    name: str,
    signal: str,
    curve: Curve,
    p: float,
    facts: Facts,
    since: int | None = None,
    *,
    severity: Severity = "concern",
) -> Finding:
    evidence = (Evidence(signal, *steps_seen(curve)),)
    step = since_of(curve) if since is None else since
    return Finding(name, round(p, 4), severity, since_step=step, evidence=evidence, facts=facts)
