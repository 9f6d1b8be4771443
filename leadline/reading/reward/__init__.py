"""The reward trajectory: what the training reward does, in words; held-out reward and components apart; where they
part company; where it broke, and whether that was the policy's doing."""

from __future__ import annotations

from dataclasses import replace

from ...curve import Curve
from ...facts import Evidence, Finding, Severity
from ...questions import BAR, WORDS, Shape, shape_of
from ...questions.paths import silence
from ...run import Run, Series
from ..prompts import change_of_prompts
from ..view import View
from .apart import Apart, components, held_out
from .breaks import account_for, broke
from .fall import fell
from .gap import train_eval_gap
from .reading import HEADLINE, RewardPeak, RewardReading
from .trade import bought_at_a_cost
from .words import number, sentence

__all__ = ["HEADLINE", "Apart", "RewardPeak", "RewardReading", "number", "read"]


def read(view: View) -> RewardReading:
    """What the training reward does, and what the other rewards do beside it."""
    curve, shape = view.curve(HEADLINE), view.shape(HEADLINE)
    others = (*held_out(view), *components(view))
    series = view.run.get(HEADLINE)
    if curve is None or shape is None or series is None:
        nothing = dict.fromkeys(WORDS, 0.0)
        return RewardReading("undecided", nothing, None, _nothing_to_read(view.run), _unreadable(view), others)
    breaks = tuple(account_for(view, one) for one in curve.breaks)
    since = max((one.step for one in breaks if one.from_outside and one.size < 0), default=None)
    if since is not None:  # a level that was set anew is no peak: what came after it is read by itself
        curve, shape = _after(view, series, since)
    peak = _peak(shape)
    findings = (
        *_unreadable(view),
        *(broke(one) for one in breaks),
        *fell(curve, shape, breaks, series),
        *_new_prompts(view),
        *train_eval_gap(view, curve),
        *bought_at_a_cost(view),
    )
    return RewardReading(
        shape.word,
        {word: round(p, 4) for word, p in shape.probabilities.items()},
        peak,
        f"{_until(series)}{sentence(curve, shape, peak, series, since)}",
        findings,
        others,
    )


def _until(series: Series) -> str:
    """How far it can be read, where its last values are no numbers."""
    last = silence(series)
    return f"up to step {series.steps[-last - 1]}, its last number: " if last else ""


def _after(view: View, series: Series, step: float) -> tuple[Curve, Shape]:
    later = series.steps >= step
    walls = None if series.walls is None else series.walls[later]
    curve = view.fit(replace(series, steps=series.steps[later], values=series.values[later], walls=walls))
    return curve, shape_of(curve)


def _nothing_to_read(run: Run) -> str:
    series = run.get(HEADLINE)
    if series is not None:
        return f"none of its {series.points} values is a finite number"
    return "no training reward was found among what was logged"


def _peak(shape: Shape) -> RewardPeak | None:
    if shape.peak is None or shape.peak.probability <= 1 - BAR:
        return None
    low, high = shape.peak.interval
    return RewardPeak(round(shape.peak.step), (round(low), round(high)), round(shape.peak.probability, 4))


def _new_prompts(view: View) -> tuple[Finding, ...]:
    change = change_of_prompts(view)
    if change is None:
        return ()
    says = (
        f"The prompts changed between steps {change.before} and {change.after}: levels before and after are of "
        "different tasks, and a lower reward there is not the policy getting worse."
    )
    evidence = (Evidence("rollouts", change.before, change.after),)
    return (Finding("reward.prompts_changed", round(change.p, 4), "note", says, change.after, evidence),)


def _unreadable(view: View) -> tuple[Finding, ...]:
    series = view.run.get(HEADLINE)
    bad = 0 if series is None else int((~series.finite).sum())
    if series is None or not bad:
        return ()
    last = silence(series)
    ended = f" None of the last {last} is a number." if 0 < last < series.points else ""
    severity: Severity = "critical" if last else "concern"
    says = f"{bad} of {series.points} reward values are NaN or infinite; they were left out.{ended}"
    span = Evidence(HEADLINE, int(series.steps[0]), int(series.steps[-1]))
    return (Finding("signal.nan", 1.0, severity, says, int(series.steps[~series.finite][0]), (span,)),)
