"""Causes everybody knows: steps that also evaluate or save."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...curve.deviates import probability_below
from ...facts import Evidence, Finding
from ...facts.conflict import LongerSteps
from ...questions.bars import FEW, NOTICEABLE, SAID
from ...run import Run, Steps, Values

Flags = NDArray[np.bool_]


def known_causes(run: Run) -> tuple[Finding, ...]:
    """Steps that also evaluate or save, where that makes them longer."""
    series = run.get("time/step")
    if series is None:
        return ()
    usable = series.finite & (series.values > 0)
    usable[:1] = False  # the first step compiles, loads and warms up
    steps, took = series.steps[usable], series.values[usable]
    evaluated = {step for series in run.series if series.name.startswith("eval/") for step in series.steps.tolist()}
    saved = {checkpoint.step for checkpoint in run.checkpoints}
    causes = (("conflict.evaluation", evaluated), ("conflict.checkpoint", saved))
    found = (_longer(name, steps, took, np.isin(steps, sorted(marked))) for name, marked in causes)
    return tuple(finding for finding in found if finding is not None)


def _longer(name: str, steps: Steps, took: Values, marked: Flags) -> Finding | None:
    if marked.sum() < FEW or marked.sum() > len(steps) / 2:
        return None
    there, away = np.log(took[marked]), np.log(took[~marked])
    error = math.hypot(there.std(ddof=1) / math.sqrt(len(there)), away.std(ddof=1) / math.sqrt(len(away)))
    difference = float(there.mean() - away.mean())
    p = probability_below(difference / error, len(there) - 1) if error > 0 else float(difference > 0)
    share = float(took[marked].sum() / took.sum())
    if p <= SAID or share * -math.expm1(-difference) <= NOTICEABLE:  # what it costs is not worth a line
        return None
    facts = LongerSteps(math.exp(difference), share)
    span = Evidence("time/step", int(steps[0]), int(steps[-1]))
    since = int(steps[marked][0])
    return Finding(name, round(p, 4), "note", facts=facts, since_step=since, evidence=(span,))
