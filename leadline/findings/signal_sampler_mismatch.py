"""Trainer and sampler growing apart."""

from __future__ import annotations

import numpy as np

from ..digits import went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Severity
from ..questions.changes import GROWN, may_have_grown
from ..questions.direction import p_multiplied, p_rising, p_visibly_grew, since_of
from ..questions.fall import p_fallen
from ..questions.level import steps_seen
from ..reading.view import View
from ..records import dataclass, replace
from ..run import REWARD, Series

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
    """Report the surest of the series that show it. Some growth comes with any policy that sharpens; it is a concern
    where it is manifold, or reward is lost."""
    names = view.names(
        lambda name: (
            name.startswith(("mismatch/", "is/")) and not any(part in name for part in ("update", "std", "ess_frac"))
        )
    )
    turned = [series for name in names[:MOST] if (series := _up_is_worse(view.run.get(name))) is not None]
    grown = [part for series in turned if may_have_grown(series) and (part := view.of(series)) is not None]
    surely = [(p, part) for part in grown if (p := p_visibly_grew(part.curve)) > SAID]
    if not surely:
        return ()
    p, worst = max(surely, key=lambda found: found[0])
    curve, series, reward = worst.curve, worst.series, view.of(REWARD)
    rising, fallen = (0.0, 0.0) if reward is None else (p_rising(reward.curve), p_fallen(reward.curve))
    bad = rising <= SAID and max(p_multiplied(curve, GROWN), fallen) > SAID
    severity: Severity = "concern" if bad else "note"
    facts = SamplerMismatch(series.name, abs(worst.start), abs(worst.now), len(surely))
    span = (Evidence(series.name, *steps_seen(curve)),)
    return (Finding("signal.sampler_mismatch", round(p, 4), severity, facts, since_of(curve), span),)


def _up_is_worse(series: Series | None) -> Series | None:
    """Return a mismatch series, turned so that up is worse."""
    if series is None or not series.finite.any():
        return None
    if series.name in RATIOS:
        return replace(series, values=np.abs(series.values - 1))
    if series.name in FALLS:
        return replace(series, values=1 - series.values)
    return series
