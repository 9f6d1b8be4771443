"""Trainer and sampler growing apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..questions.bars import SAID
from ..questions.direction import p_rising
from ..questions.fall import p_fallen
from ..questions.growth import may_have_grown, p_multiplied, p_visibly_grew
from ..questions.level import level_now, start_of, steps_seen
from ..questions.way import since_of
from ..reading.view import HEADLINE, View
from ..run import Series
from ..words.numbers import went

GUIDE = {
    "signal.sampler_mismatch": Guide(
        "Training–inference mismatch: trainer and inference engine disagree on the probabilities of the same tokens.",
        "The logged difference of their log-probabilities.",
        "Check precision, weight sync, and the inference engine's version; correct with importance weights.",
    ),
}

RATIOS = ("is/ratio_mean", "is/update_ratio_mean")  # 1 is perfect: their distance from it is what grows
FALLS = ("mismatch/pearson",)  # 1 is perfect, and the most: what is missing to it grows
MOST = 3  # mismatch series that are read


@dataclass(frozen=True, slots=True)
class SamplerMismatch(Facts):
    """Trainer and sampler grow apart."""

    series: str
    start: float
    now: float
    of_series: int  # how many series show it

    def say(self) -> str:
        others = f" ({self.of_series} metrics show it)" if self.of_series > 1 else ""
        return f"Training–inference mismatch is growing: {self.series} {went(self.start, self.now)}{others}."


def detect(view: View) -> tuple[Finding, ...]:
    """The surest of the series that show it. Some growth comes with any policy that sharpens; it is a concern where it
    is manifold, or reward is lost."""
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
    curve, reward = view.fit(series), view.curve(HEADLINE)
    bad = p_rising(reward) <= SAID and max(p_multiplied(curve), p_fallen(reward)) > SAID
    severity: Severity = "concern" if bad else "note"
    facts = SamplerMismatch(series.name, abs(start_of(curve, series)), abs(level_now(curve, series)), len(surely))
    span = (Evidence(series.name, *steps_seen(curve)),)
    return (Finding("signal.sampler_mismatch", round(p, 4), severity, facts, since_of(curve), span),)


def _up_is_worse(series: Series | None) -> Series | None:
    """A mismatch series, turned so that up is worse."""
    if series is None or not series.finite.any():
        return None
    if series.name in RATIOS:
        return replace(series, values=np.abs(series.values - 1))
    if series.name in FALLS:
        return replace(series, values=1 - series.values)
    return series
