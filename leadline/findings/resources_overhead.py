"""Causes everybody knows: steps that also evaluate or save."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..curve.noise import probability_below
from ..digits import number, percent
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide
from ..questions.level import FEW_POINTS
from ..reading.view import View
from ..reading.wall_clock import WORTH_TIME
from ..records import dataclass
from ..run import Steps, Values

GUIDE = {
    "resources.eval_overhead": Guide(
        "Steps with an eval take longer.",
        "Step times with and without an eval.",
        "Nothing, or run evals less often.",
    ),
    "resources.checkpoint_overhead": Guide(
        "Steps that save a checkpoint take longer.",
        "Step times with and without a save.",
        "Nothing, or save less often or in the background.",
    ),
}


@dataclass(frozen=True, slots=True)
class LongerSteps(Facts):
    """Steps that also evaluate, against the others."""

    ratio: float
    share: float  # of all step time

    WORK: ClassVar[tuple[str, str]] = ("Evals", "eval steps")  # in the plural, and the steps that do it

    def say(self) -> str:
        costs = self.share * (1 - 1 / self.ratio)
        work, steps = self.WORK
        return f"{work} cost {percent(costs)} of wall time: {steps} take {number(self.ratio)}× as long."


@dataclass(frozen=True, slots=True)
class LongerSaves(LongerSteps):
    """Steps that save take longer."""

    WORK: ClassVar[tuple[str, str]] = ("Checkpoint saves", "steps that save")


def detect(view: View) -> tuple[Finding, ...]:
    """Report steps that also evaluate or save, where that makes them longer."""
    run, series = view.run, view.run.get("time/step")
    if series is None:
        return ()
    usable = series.finite & (series.values > 0)
    usable[:1] = False  # the first step compiles, loads and warms up
    steps, took = series.steps[usable], series.values[usable]
    evaluated = {step for series in run.series if series.name.startswith("eval/") for step in series.steps.tolist()}
    saved = {checkpoint.step for checkpoint in run.checkpoints}
    causes = (
        ("resources.eval_overhead", LongerSteps, evaluated),
        ("resources.checkpoint_overhead", LongerSaves, saved),
    )
    found = (_longer(name, kind, steps, took, np.isin(steps, sorted(marked))) for name, kind, marked in causes)
    return tuple(finding for finding in found if finding is not None)


def _longer(
    name: str, kind: type[LongerSteps], steps: Steps, took: Values, marked: NDArray[np.bool_]
) -> Finding | None:
    if marked.sum() < FEW_POINTS or marked.sum() > len(steps) / 2:
        return None
    there, away = np.log(took[marked]), np.log(took[~marked])
    error = math.hypot(there.std(ddof=1) / math.sqrt(len(there)), away.std(ddof=1) / math.sqrt(len(away)))
    difference = float(there.mean() - away.mean())
    p = probability_below(difference / error, len(there) - 1) if error > 0 else float(difference > 0)
    share = float(took[marked].sum() / took.sum())
    if p <= SAID or share * -math.expm1(-difference) <= WORTH_TIME:  # what it costs is not worth a line
        return None
    facts = kind(math.exp(difference), share)
    span = Evidence("time/step", int(steps[0]), int(steps[-1]))
    since = int(steps[marked][0])
    return Finding(name, round(p, 4), "note", facts=facts, since_step=since, evidence=(span,))
