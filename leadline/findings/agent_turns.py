"""Answers in several turns, with tools: does the policy loop, or give up?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..questions.bars import CLEARLY, HALF_MORE, SAID
from ..questions.level import last_step_before, level_now, paths_now, start_of
from ..questions.way import net_change
from ..reading.view import HEADLINE, View
from ..words.numbers import number, went

GUIDE = {
    "agent.turns": Guide(
        "Responses take many more or many fewer turns than at the start.",
        "The logged number of turns, and the reward over the same steps.",
        "Read a few long conversations; check the turn limit.",
    ),
    "agent.tool_calls": Guide(
        "Responses call tools much more or much less often than at the start.",
        "The logged number of tool calls, and the reward over the same steps.",
        "Read a few responses: tool calls that stop or loop are a common shortcut.",
    ),
}
Reward = Literal["rose", "fell", "unclear"] | None

MEANWHILE: dict[Reward, str] = {
    "rose": " while reward rose",
    "fell": " while reward dropped",
    "unclear": " with no clear change in reward",
    None: "",
}
TURNS, MOST_TURNS, CALLS = "agent/turns_mean", "agent/turns_max", "tools/calls_per_sample"


@dataclass(frozen=True, slots=True)
class TurnsChange(Facts):
    """Turns, or tool calls, of an answer became many more or many fewer."""

    what: Literal["turns", "tool_calls"]
    start: float
    now: float
    reward: Reward  # meanwhile; None: nobody knows
    most: float | None = None  # turns an answer may have, where nearly all take so many now

    def say(self) -> str:
        what = "Turns" if self.what == "turns" else "Tool calls"
        verb = "grew" if self.now > self.start else "shrank"
        cap = "" if self.most is None else f" (max {number(self.most)})"
        guess = ""
        if self.reward in ("fell", "unclear"):
            guess = f": the policy may be {'looping' if self.now > self.start else 'giving up early'}"
        return f"{what} per response {verb} {went(self.start, self.now)}{cap}{MEANWHILE[self.reward]}{guess}."


def detect(view: View) -> tuple[Finding, ...]:
    """What turns and tool calls did, and whether the reward went with it."""
    return (*_moved(view, TURNS, "turns"), *_moved(view, CALLS, "tool_calls"))


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
