"""All that the judgement rests on, and the one probability that comes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..curve import Curve
from ..facts import Finding
from ..facts.judgement import NewStretch
from ..plan import Plan
from ..questions.bars import EVEN, HABIT
from ..questions.ceiling import ceiling_of
from ..questions.direction import p_flat, p_rising
from ..questions.forecast import Forecast
from ..questions.gain import gained_by
from ..questions.level import left_its_start
from ..questions.way import p_moved
from ..reading.reward import HEADLINE
from ..reading.reward.apart import grain, judges
from ..reading.reward.stretch import Stretch, stretch_of
from ..reading.view import View
from ..run import Series
from .evidence import Weighed, weigh
from .outlook import SPAN, Outlook, outlook, scores_of, together

DRIFT = "kl.drift_without_benefit"
PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The judged series, what may come of it, and what speaks against it."""

    series: Series
    curve: Curve
    plan: Plan
    outlook: Outlook
    training: Outlook | None  # of the training reward, where a held-out score is judged
    evidence: Weighed
    ceiling: float | None  # the highest value that can be reached, where the run shows it
    gained_by: float  # step by which it had nearly all of its gain
    stretch: Stretch  # the part of the run over which the series is judged
    drift: Finding | None = None  # the policy moves on and its reward does not
    grain: float = 0.0  # what the problems behind a held-out score cannot tell from luck

    @property
    def forecast(self) -> Forecast:
        return self.outlook.now

    @property
    def enough(self) -> float:
        """How much higher a step has to stand to be the better one: by what is worth having and can be told."""
        return max(self.forecast.worth, self.grain)

    @property
    def judged_since(self) -> int | None:
        """The step from which on it is judged, where that is not the first."""
        return None if self.stretch.first is None else round(self.stretch.first)

    @property
    def judged_because(self) -> NewStretch | None:
        why = self.stretch.why
        if why is None:
            return None
        return "prompts" if why.kind == "prompts" else "event" if why.kind == "event" else "outside"

    @property
    def p_fallen(self) -> float:
        return self.outlook.p_fallen

    @property
    def flat_for(self) -> float:
        """How long it has had nearly all of its gain, as a share of the plan: a gain is waited for from then on. It may
        creep up meanwhile, so this is not since when it is told to be flat (`questions/rest.py`)."""
        return (self.plan.now - self.gained_by) / self.plan.steps

    @property
    def never_moved(self) -> bool:
        return p_moved(self.curve) < EVEN and not left_its_start(self.curve, self.series)

    @property
    def score_tells(self) -> bool:
        """Whether the score itself shows that the policy broke, so that what speaks against its text adds nothing."""
        return self.evidence.p_fell_with_the_text(self.p_fallen) > EVEN

    @property
    def p_gain(self) -> float:
        """Probability that a gain worth having is still to come. A held-out score of few points says little by itself,
        and what the training reward does is the best guess at the rest; unless it shows that it is flat."""
        if self.training is None or self.forecast.room < EVEN:
            return self.outlook.p_gain
        share = HABIT / (HABIT + int(self.series.finite.sum())) * (1 - p_flat(self.curve))
        return together(self.outlook.p_gain, self.training.p_gain, share)

    @property
    def p_no_signal(self) -> float:
        """Probability that nothing can be learned any more, growing over a span of the plan. What has no date holds
        for as long as it has been flat: from the start, where it never moved."""
        since, plan = self.evidence.no_signal_since, self.plan
        undated = plan.elapsed if self.never_moved else self.flat_for
        lasted = undated if since is None else (plan.now - since) / plan.steps
        return self.evidence.p_no_signal * min(max(lasted / SPAN, 0.0), 1.0) ** 2

    @property
    def p_drifts(self) -> float:
        """Probability that it has run its course: the policy goes on from its reference and the score does not follow.
        A plateau, and nothing about the score; so it has to last as one has to."""
        if self.drift is None or self.drift.since_step is None:
            return 0.0
        lasted = (self.plan.now - self.drift.since_step) / self.plan.steps
        return self.drift.p * (1 - p_rising(self.curve)) * min(max(lasted / SPAN, 0.0), 1.0) ** 2

    @property
    def because(self) -> tuple[str, ...]:
        """Ids of the findings that count."""
        counted = (*self.evidence.counted, *((self.drift,) if self.drift is not None and self.p_drifts > 0 else ()))
        return tuple(dict.fromkeys(finding.id for finding in counted))

    @property
    def p_hidden(self) -> float:
        """Probability that the score hides what the policy is worth."""
        return 0.0 if self.score_tells else self.evidence.p_gamed

    @property
    def p_no_gain(self) -> float:
        """That no gain can come of going on, whatever the score does."""
        return 1 - (1 - self.evidence.p_gamed) * (1 - self.p_no_signal) * (1 - self.p_drifts)

    @property
    def p_pays(self) -> float:
        """The probability by which the verdict is chosen."""
        return self.p_gain * (1 - self.p_no_gain)

    def earlier(self, view: View, share: float, price: float) -> Case | None:
        """The same series a share of the plan ago, as what is known by now weighs it; None where nothing could be told
        of it."""
        plan = self.plan.earlier(share)
        seen = self.series.until(math.floor(plan.now))
        if not seen.finite.any() or not (curve := view.fit(seen)).decidable:
            return None
        training = None if self.training is None else _training(view, plan, price)
        ahead = outlook(view, seen, curve, plan, price=price, ceiling=self.ceiling)
        return replace(self, series=seen, curve=curve, plan=plan, outlook=ahead, training=training)


def case_of(
    view: View,
    findings: Sequence[Finding],
    *,
    price: float = PRICE,
) -> Case | None:
    """All that the judgement rests on; None where there is nothing to judge."""
    plan, judged = view.plan, _judged(view)
    if plan is None or judged is None:
        return None
    series, curve, stretch = judged
    ceiling = ceiling_of(view.run, series, scores_of(view))
    return Case(
        series,
        curve,
        plan,
        outlook(view, series, curve, plan, price=price, ceiling=ceiling),
        None if series.name == HEADLINE else _training(view, plan, price),
        weigh([found for found in findings if found.id != DRIFT], plan.first),
        ceiling,
        gained_by(curve),
        stretch,
        next((found for found in findings if found.id == DRIFT), None),
        grain(view, series),
    )


def _judged(view: View) -> tuple[Series, Curve, Stretch] | None:
    """The held-out score that is logged best, one that measures something else than the reward before the reward on
    other prompts; else the training reward; over the stretch that counts."""
    for name in (*judges(view), HEADLINE):
        logged = view.run.get(name)
        if logged is None or not logged.finite.any():
            continue
        stretch = stretch_of(view, name)
        series = stretch.of(logged)
        curve = view.fit(series) if series.finite.any() else None
        if curve is not None and (curve.decidable or name == HEADLINE):
            return series, curve, stretch
    return None


def _training(view: View, plan: Plan, price: float) -> Outlook | None:
    """What may come of the training reward; None where it cannot be told."""
    logged = view.run.get(HEADLINE)
    series = None if logged is None else stretch_of(view, HEADLINE).of(logged).until(math.floor(plan.now))
    if logged is None or series is None or not series.finite.any() or not (curve := view.fit(series)).decidable:
        return None
    ceiling = ceiling_of(view.run, logged, scores_of(view))
    return outlook(view, series, curve, plan, price=price, ceiling=ceiling)
