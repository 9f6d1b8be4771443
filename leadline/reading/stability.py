"""Stability: gradient norm, entropy, clipping, sampler mismatch and NaN against the run's own start.

None of these is good or bad by its level, nor by its direction alone: entropy falls and gradients grow in runs that
learn well. What counts is the company they keep, first of all whether reward is lost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..curve import Curve
from ..curve.robust import running_median
from ..facts import BAR, Evidence, Finding, Severity
from ..questions.classes import rising
from ..questions.fall import has_fallen
from ..questions.paths import climbed, level_logged, sank, share, span_of
from ..run import Series
from .reward import HEADLINE, number
from .shifts import GLANCE, may_have_grown
from .view import View

MANY_TIMES = 3.0  # times the least it was before: gradient norms double and halve in every run
BEGUN = 0.1  # of the way: where a reader would say that it began
BELOW = 1e-6  # of the median: the log of a gradient norm of exactly 0
ZERO = 1e-5  # of the median: what is nearer to that than to any norm is told as 0
WARMING_UP = 5  # points: mixed precision finds its scale within them
GROWTH = 2.0  # sd of one point: what grew by less cannot be seen by eye
WATCHED = ("grad_norm", "loss/policy", "loss/total", "kl/ref", "kl/update", "entropy")
RATIOS = ("is/ratio_mean", "is/update_ratio_mean")  # 1 is perfect: their distance from it is what grows
FALLS = ("is/ess_frac", "mismatch/pearson")  # 1 is perfect, and the most: what is missing to it grows
MOST = 3  # mismatch series that are read


def read(view: View) -> tuple[Finding, ...]:
    """Trends and breaks that say the optimisation is coming apart."""
    reward = view.curve(HEADLINE)
    gone = share(has_fallen(reward)) if reward is not None and reward.decidable else 0.0
    up = share(rising(reward)) if reward is not None and reward.decidable else 0.0
    return (
        *_not_numbers(view),
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
    logs = _logs(series)
    if gone <= BAR and not _may_have_multiplied(logs):
        return ()
    curve = view.fit(logs)
    if not curve.decidable:
        return ()
    least = max(float(np.log(MANY_TIMES)), GROWTH * curve.noise)
    grown = curve.seen[:, -1] - curve.seen.min(axis=1) > least
    grew = share(grown & climbed(curve)) * (1 - up)
    died = share(curve.seen.max(axis=1) - curve.seen[:, -1] > least)
    zero = np.log(_zero(series))
    # From steps without any gradient to others it is no growth: there is no factor between 0 and a number.
    before = [float(curve.at(max(one.step - 1, curve.grid[0])).mean()) for one in curve.breaks]
    broke = [one for one, low in zip(curve.breaks, before, strict=True) if one.size > np.log(MANY_TIMES) and low > zero]
    start, now = (number(_size_at(curve, place, series)) for place in (0, -1))
    if gone > BAR and broke:
        one = max(broke, key=lambda found: found.size)
        fold = number(float(np.exp(one.size)))
        says = f"The gradient norm jumped {fold}-fold at step {round(one.step)}, and reward was lost."
        return (_finding("stability.grad_norm", "grad_norm", curve, one.probability * gone, says, round(one.step)),)
    if grew > BAR:
        what = "while reward was lost" if gone > BAR else "without reward rising"
        says = f"The gradient norm grew from {start} to {now} {what}."
        severity: Severity = "concern" if gone > BAR else "note"
        return (_finding("stability.grad_norm", "grad_norm", curve, grew, says, severity=severity),)
    if gone > BAR and died > BAR and _size_at(curve, -1, series) > 0:  # a norm of 0 is told as no learning signal
        says = f"Reward was lost and the gradient norm shrank from {start} to {now}: little is left to pull it back."
        return (_finding("stability.grad_norm", "grad_norm", curve, gone * died, says),)
    return ()


def _may_have_multiplied(logs: Series) -> bool:
    """A glance before the costly look: its local level, late in the run, ever stood that far above its lowest."""
    level = running_median(logs.values[logs.finite])
    return bool(level[-max(len(level) // GLANCE, 1) :].max() - level.min() > np.log(MANY_TIMES))


def _size_at(curve: Curve, place: int, series: Series) -> float:
    """The norm at a grid cell of the curve of its log, in which an exact 0 had to be a number."""
    size = float(np.exp(curve.seen[:, place].mean()))
    return 0.0 if size < _zero(series) else size


def _zero(series: Series) -> float:
    """Below this a norm is 0."""
    return ZERO * float(np.median(series.values[series.finite & (series.values > 0)]))


def _entropy(view: View, gone: float) -> tuple[Finding, ...]:
    """Entropy that exploded or collapsed together with the reward. Falling entropy with reward kept is convergence,
    rising entropy with reward kept is exploration."""
    curve, logged = (view.curve("entropy"), view.run.get("entropy")) if gone > BAR else (None, None)
    if curve is None or logged is None or not curve.decidable:
        return ()
    up, down = gone * share(climbed(curve)), gone * share(sank(curve))
    if max(up, down) <= BAR:
        return ()
    start, now = (number(level_logged(curve, place, logged)) for place in (0, -1))
    says = (
        f"Entropy rose from {start} to {now} while reward was lost: the policy has come apart."
        if up > down
        else f"Entropy fell from {start} to {now} while reward was lost: the policy has collapsed onto something worse."
    )
    return (_finding("stability.entropy", "entropy", curve, max(up, down), says),)


def _clip(view: View, gone: float) -> tuple[Finding, ...]:
    """A clip fraction that grew while reward was lost: updates too large for the trust region."""
    curve, logged = (view.curve("clip/frac"), view.run.get("clip/frac")) if gone > BAR else (None, None)
    if curve is None or logged is None or not curve.decidable:
        return ()
    p = gone * share(climbed(curve))
    if p <= BAR:
        return ()
    start, now = (number(level_logged(curve, place, logged)) for place in (0, -1))
    says = f"The clipped share of tokens grew from {start} to {now} while reward was lost: the updates are too large."
    return (_finding("stability.clip", "clip/frac", curve, p, says),)


def _mismatch(view: View, gone: float, up: float) -> tuple[Finding, ...]:
    """Trainer and sampler growing apart: the surest of the series that show it. Some growth comes with any policy that
    sharpens; it is a concern where it is manifold, or reward is lost."""
    names = view.names(
        lambda name: name.startswith(("mismatch/", "is/")) and "update" not in name and "std" not in name
    )
    grown = [
        (p, curve) for name in names[:MOST] if (curve := _apart(view, name)) is not None and (p := _grew(curve)) > BAR
    ]
    if not grown:
        return ()
    p, curve = max(grown, key=lambda found: found[0])
    start, now = (number(float(abs(curve.seen[:, place].mean()))) for place in (0, -1))
    first, last = curve.seen[:, 0], curve.seen[:, -1]
    manifold = share(last > MANY_TIMES * np.maximum(first, curve.last.noise))
    severity: Severity = "concern" if up <= BAR and max(manifold, gone) > BAR else "note"
    others = f" {len(grown)} series show it." if len(grown) > 1 else ""
    says = f"Trainer and sampler drift apart: {curve.metric} went from {start} to {now}.{others}"
    return (_finding("signal.sampler_mismatch", curve.metric, curve, p, says, severity=severity),)


def _apart(view: View, name: str) -> Curve | None:
    """The curve of a mismatch series, turned so that up is worse."""
    series = view.run.get(name)
    if series is None or not series.finite.any():
        return None
    if name in RATIOS:
        series = replace(series, values=np.abs(series.values - 1))
    if name in FALLS:
        series = replace(series, values=1 - series.values)
    return view.fit(series) if may_have_grown(series) else None


def _grew(curve: Curve) -> float:
    if not curve.decidable:
        return 0.0
    return share(climbed(curve) & (curve.seen[:, -1] - curve.seen[:, 0] > GROWTH * curve.noise))


def _not_numbers(view: View) -> tuple[Finding, ...]:
    """One finding for all watched series that hold NaN or infinities; the reward's own are told with the reward."""
    bad = [series for name in WATCHED if (series := view.run.get(name)) is not None and not series.finite.all()]
    if not bad:
        return ()
    said = ", ".join(f"{one.name} ({int((~one.finite).sum())} of {one.points})" for one in bad)
    first = min(int(one.steps[~one.finite][0]) for one in bad)
    ended = [one for one in bad if not one.finite[-1]]
    went_on = f" {', '.join(one.name for one in ended)} ended on it." if ended else " Each came back to numbers."
    warming_up = all(one.finite[WARMING_UP:].all() for one in bad)  # a loss scale that finds its size skips steps
    severity: Severity = "critical" if ended else "note" if warming_up else "concern"
    evidence = tuple(Evidence(one.name, int(one.steps[~one.finite][0]), int(one.steps[~one.finite][-1])) for one in bad)
    return (
        Finding("signal.nan", 1.0, severity, f"NaN or infinite since step {first}: {said}.{went_on}", first, evidence),
    )


def _logs(series: Series) -> Series:
    """The log of a positive series: growth by a factor is the same step at every level."""
    values = series.values[series.finite]
    floor = BELOW * float(np.median(values[values > 0]))
    return replace(
        series,
        name=f"{series.name}/log",
        values=np.log(np.where(series.finite, np.maximum(series.values, floor), np.nan)),
    )


def _since(curve: Curve) -> int:
    """The step by which the mean path had come a tenth of its net way."""
    mean = curve.seen.mean(axis=0)
    way = (mean - mean[0]) / (mean[-1] - mean[0]) if mean[-1] != mean[0] else np.ones_like(mean)
    return round(float(curve.grid[int(np.argmax(way >= BEGUN))]))


def _finding(
    name: str,
    signal: str,
    curve: Curve,
    p: float,
    says: str,
    since: int | None = None,
    *,
    severity: Severity = "concern",
) -> Finding:
    evidence = (Evidence(signal, *span_of(curve)),)
    return Finding(name, round(p, 4), severity, says, _since(curve) if since is None else since, evidence)
