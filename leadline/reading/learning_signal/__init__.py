"""No learning signal: steps on which every advantage was zero, and what that means where reward stands.

Exact facts decide here, not levels: every group tied, all rewards equal, all advantages zero, a gradient of exactly 0.
A step of which one of them holds taught the policy nothing, whatever its reward says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...curve.bins import LEAST
from ...evidence.numbers import truncated
from ...facts import Evidence, Facts, Finding, Severity
from ...facts.signal import AllTied, AllTruncated, BatchSpread, MostlyTied, NoEntropy
from ...questions.bars import CLEARLY, EVEN, SAID, SPELL
from ...questions.level import level_now
from ...questions.share import more_than
from ...questions.stuck import spell_at_the_end, stuck_at
from ...run import Run
from ..generations.samples import by_score, shortened
from ..generations.truncation import throughout, truncated_now
from ..reward import HEADLINE
from ..view import View
from .dead_steps import (
    GRADIENT,
    ZERO_STD,
    dead_steps,
    lately,
    mostly_since,
    nearly_all,
    nearly_all_averaged,
    tied_samples,
    tied_share,
)
from .standing import Standing, present, standing_of

SHOWN = 3  # samples: enough to see what they are


def read(view: View) -> tuple[Finding, ...]:
    """Whether the last steps could teach anything."""
    return _advantages(view) + no_entropy(view.run)


def _advantages(view: View) -> tuple[Finding, ...]:
    standing = standing_of(view)
    if standing is None:
        return throughout(view)
    steps, dead = dead_steps(view.run)
    p, since = nearly_all(steps, dead) if len(steps) else tied_samples(view.batches)
    if p >= SAID:
        return (_dead(view, standing, p, since, sure=len(steps) > 0), *throughout(view))
    p, since, share = nearly_all_averaged(view.run)
    if p >= SAID:
        return (_dead(view, standing, p, since, sure=False, share=share), *throughout(view))
    p, since = lately(steps, dead)
    if p >= SAID:  # a note: an outage passes, and is no reason to stop
        return (replace(_dead(view, standing, p, since, sure=False), severity="note"), *throughout(view))
    return _cut_off(view, standing) or (*_rare(view, standing), *throughout(view))


def no_entropy(run: Run) -> tuple[Finding, ...]:
    """Entropy of exactly 0 in nearly all present steps. One that was never anything else is not logged, not zero."""
    series = run.get("entropy")
    values = series.values[series.finite] if series is not None else np.empty(0)
    if series is None or not (values > 0).any():
        return ()
    steps = series.steps[series.finite]
    p, since = nearly_all(steps, values == 0)
    if p < SAID or since is None:
        return ()
    if (stuck := stuck_at(series)) is not None:  # 0 from one step on: that is the date
        since = stuck.since_step
    facts = NoEntropy(since, float(values[values > 0][-1]))
    span = Evidence(series.name, int(steps[0]), int(steps[-1]))
    return (Finding("signal.no_entropy", round(p, 4), "concern", facts=facts, since_step=since, evidence=(span,)),)


def _dead(
    view: View, standing: Standing, p: float, since: int | None, *, sure: bool, share: float | None = None
) -> Finding:
    # A few groups among samples do not speak for all groups.
    severity: Severity = "note" if standing.place == "top" else "critical" if sure else "concern"
    reward = {"top": standing.high, "bottom": standing.low}.get(standing.place, _stands(view, standing))
    between = _spread(view.run) if standing.place == "between" and share is None else None
    return _finding(p, severity, AllTied(standing.place, reward, since, between, share), since, _evidence(view))


def _stands(view: View, standing: Standing) -> float:
    """The level of the reward now, as every other sentence tells it."""
    curve, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    return standing.mean if curve is None or logged is None or not curve.decidable else level_now(curve, logged)


def _spread(run: Run) -> BatchSpread | None:
    """A standard deviation over the batch that looks like a signal and is none."""
    for series in run.series:
        if series.name == "reward/std" or (
            series.name.startswith("reward/component/") and series.name.endswith("/std")
        ):
            last = series.values[series.finite][-SPELL:]
            if len(last) and last.mean() > 0:
                return BatchSpread(series.key, float(last.mean()))
    return None


def _cut_off(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Nearly everything is cut off and earns the least there is, or always the same."""
    cut = truncated(view.run)
    if cut is None or standing.place not in ("bottom", "constant") or cut.finite.sum() < LEAST:
        return ()
    values = cut.values[cut.finite]
    high = values[-present(len(values)) :] > CLEARLY
    p = more_than(CLEARLY, int(high.sum()), len(high))
    if p < SAID:
        return ()
    share = truncated_now(view, cut)
    facts = AllTruncated(float(values[-len(high) :].mean()) if share is None else share, standing.mean)
    since = mostly_since(cut.steps[cut.finite], values > CLEARLY)
    return (_finding(p, "critical", facts, since, _evidence(view, cut.name)),)


def _rare(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Most groups are tied, not all: a note, since the rest still teaches. Wherever the reward stands: at its ends it
    comes and goes from look to look, the ties do not."""
    tied = tied_share(view.run)
    if tied is None or tied.finite.sum() < LEAST or standing.place == "constant":
        return ()
    values = tied.values[tied.finite]
    steps, most = tied.steps[tied.finite], values > EVEN
    p, since = nearly_all(steps, most)
    recent = values[-present(len(values)) :]
    if p < SAID:
        p, since = lately(steps, most)
        recent = values[-spell_at_the_end(most) :]
    if p < SAID:
        return ()
    level = {"top": standing.high, "bottom": standing.low}.get(standing.place, _stands(view, standing))
    facts = MostlyTied(float(recent.mean()), standing.place, level)
    return (_finding(p, "note", facts, since, (Evidence(tied.name, int(steps[0]), int(steps[-1])),)),)


def _finding(p: float, severity: Severity, facts: Facts, since: int | None, evidence: tuple[Evidence, ...]) -> Finding:
    return Finding("signal.no_learning_signal", round(p, 4), severity, facts=facts, since_step=since, evidence=evidence)


def _evidence(view: View, *more: str) -> tuple[Evidence, ...]:
    names = (HEADLINE, ZERO_STD, GRADIENT, *more)
    series = [series for series in map(view.run.get, names) if series is not None and series.points]
    spans = [Evidence(logged.name, int(logged.steps[0]), int(logged.steps[-1])) for logged in series]
    if view.batches:
        last = view.batches[-1]
        spans.append(
            Evidence("rollouts", last.step, last.step, samples=tuple(map(shortened, by_score((last,))[:SHOWN])))
        )
    return tuple(spans)
