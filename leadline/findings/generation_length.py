"""Length: did answers become longer or shorter, and did reward go with it? A length is never good or bad by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..curve.cells import LEAST
from ..digits import went
from ..facts.finding import MEANWHILE, SAID, WORTH_SAYING, Evidence, Facts, Finding, Guide, Meanwhile
from ..questions.changes import sudden_step
from ..questions.direction import since_of
from ..questions.level import KNOWN, SETTLED, p_above, p_below, steps_seen
from ..reading.view import View
from ..reading.whole import evidence_of
from ..records import dataclass
from ..run import LENGTH, Series
from ..text.evidence import PAYS
from ..text.sampler import Batch
from ..text.shown import middling

GUIDE = {
    "generation.length": Guide(
        "Responses became longer or shorter, with or without a change in reward.",
        "The logged response length, or the samples; correlation of length and reward within a step.",
        "If longer responses score higher without being better, the reward favors length: normalize it.",
    ),
}
OF_SAMPLES = "text/length"


@dataclass(frozen=True, slots=True)
class LengthChange(Facts):
    """Answers became longer or shorter."""

    start: float
    now: float
    unit: Literal["tokens", "characters"]
    sudden_step: int | None  # where most of the change happened at once
    reward: Meanwhile
    pays: float | None  # correlation of length and reward within a step, lately; None: no samples to tell

    def say(self) -> str:
        verb = "grew" if self.now > self.start else "shrank"
        beside = "" if self.reward == "unclear" else MEANWHILE[self.reward]  # the caption may show that it moved
        how = "" if self.sudden_step is None else f", mostly at step {self.sudden_step}{',' * bool(beside)}"
        moved = f"Responses {verb} {went(self.start, self.now)} {self.unit}{how}{beside}."
        if self.pays is None:
            return moved
        lean = "length and reward are uncorrelated"
        if abs(self.pays) > PAYS:
            lean = f"{'longer' if self.pays > 0 else 'shorter'} responses score higher"
        return f"{moved} Within a step, {lean} (correlation {self.pays:+.2f})."


def detect(view: View) -> tuple[Finding, ...]:
    """Report that length moved, how, and whether reward moved with it. Says nothing of quality."""
    batches = view.whole.batches
    logged, unit = _series(view, batches)
    length = view.of(logged)
    if length is None or length.series.finite.sum() < LEAST:
        return ()
    series = length.series
    values = series.numbers
    start, latest = float(values[:SETTLED].mean()), values[-KNOWN:]  # a quick look before a curve is fitted
    if not ((latest > WORTH_SAYING * start) | (latest * WORTH_SAYING < start)).any():
        return ()
    curve = length.curve
    if not curve.decidable or start <= 0:
        return ()
    p = max(p_above(curve, WORTH_SAYING * start), p_below(curve, start / WORTH_SAYING))
    if p < SAID:
        return ()
    now, related = length.now, evidence_of(view.whole).relation
    facts = LengthChange(
        length.start,
        now,
        unit,
        sudden_step(curve, start, now),
        view.meanwhile,
        None if related is None else related.length_pays,
    )
    evidence = [Evidence(curve.metric, *steps_seen(curve))]
    if batches:
        evidence.append(Evidence("rollouts", batches[0].step, batches[-1].step, samples=middling(batches)))
    found = Finding(
        "generation.length", round(p, 4), "note", facts=facts, since_step=since_of(curve), evidence=tuple(evidence)
    )
    return (found,)


def _series(view: View, batches: Sequence[Batch]) -> tuple[Series | None, Literal["tokens", "characters"]]:
    logged = view.run.get(LENGTH)
    if logged is not None or not batches:
        return logged, "tokens"
    steps = np.asarray([batch.step for batch in batches], dtype=np.int64)
    means = np.asarray([np.mean([len(sample.output) for sample in batch.alone]) for batch in batches])
    return Series(OF_SAMPLES, OF_SAMPLES, "characters", steps, means), "characters"
