"""Answers in several turns, with tools: does the policy loop, give up, or call tools that fail?"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..facts import Evidence, Finding, Severity
from ..facts.agent import FailingTools, TurnsChange
from ..questions.bars import CLEARLY, HALF_MORE, SAID, TENTH
from ..questions.level import last_step_before, level_now, paths_now, start_of
from ..questions.way import net_change
from .reward import HEADLINE
from .view import View

TURNS, MOST_TURNS = "agent/turns_mean", "agent/turns_max"
CALLS, FAILURES = "tools/calls_per_sample", "tools/failure_frac"


def read(view: View) -> tuple[Finding, ...]:
    """What turns, tool calls and their failures did, and whether the reward went with it."""
    return (*_moved(view, TURNS, "turns"), *_moved(view, CALLS, "tool_calls"), *_failures(view))


def _moved(view: View, name: str, what: Literal["turns", "tool_calls"]) -> tuple[Finding, ...]:
    series, curve = view.run.get(name), view.curve(name)
    change, paths = net_change(curve), paths_now(curve)
    if series is None or curve is None or change is None or paths is None:
        return ()
    start, now = start_of(curve, series), level_now(curve, series)
    p = max(min(change.rose, paths.above(HALF_MORE * start)), min(change.fell, paths.below(start / HALF_MORE)))
    if p < SAID or start <= 0:
        return ()
    reward = net_change(view.curve(HEADLINE))
    meanwhile = None if reward is None else reward.which(SAID)
    facts = TurnsChange(what, start, now, meanwhile, _cap(view, now) if what == "turns" else None)
    since = last_step_before(curve, (start + now) / 2, way=float(np.sign(change.size)))
    severity: Severity = "concern" if meanwhile == "fell" else "note"
    span = Evidence(name, int(series.steps[0]), int(series.steps[-1]))
    return (Finding(f"agent.{what}", round(p, 4), severity, facts=facts, since_step=since, evidence=(span,)),)


def _cap(view: View, now: float) -> float | None:
    """The most turns an answer took, where nearly all answers take about so many: they end at a limit."""
    series = view.run.get(MOST_TURNS)
    values = series.values[series.finite] if series is not None else np.empty(0)
    most = float(values.max()) if len(values) else 0.0
    return most if most > 0 and now >= CLEARLY * most else None


def _failures(view: View) -> tuple[Finding, ...]:
    series, curve = view.run.get(FAILURES), view.curve(FAILURES)
    change, paths = net_change(curve), paths_now(curve)
    if series is None or curve is None or change is None or paths is None:
        return ()
    start, now = start_of(curve, series), level_now(curve, series)
    p = min(change.rose, paths.above(start + TENTH))
    if p < SAID:
        return ()
    reward = net_change(view.curve(HEADLINE))
    meanwhile = None if reward is None else reward.which(SAID)
    facts = FailingTools(start, now, meanwhile)
    since = last_step_before(curve, (start + now) / 2, way=1.0)
    severity: Severity = "note" if meanwhile == "rose" else "concern"
    span = Evidence(FAILURES, int(series.steps[0]), int(series.steps[-1]))
    return (Finding("agent.tool_failures", round(p, 4), severity, facts=facts, since_step=since, evidence=(span,)),)
