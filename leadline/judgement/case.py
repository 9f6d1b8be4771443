"""All that the judgement rests on: the one probability that comes of it, and gains and losses that agree with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..curve.curve import TENTHS
from ..facts import Finding
from ..facts.finding import SAID
from ..facts.judgement import Risk, Upside
from ..plan import Plan
from ..questions.direction import gained_by, p_flat, p_moved, p_rising
from ..questions.fall import highest, p_fallen
from ..questions.forecast import Forecast, ceiling_of, floor_of, forecast, room_below
from ..questions.level import left_its_start
from ..reading.scores import Judged
from ..reading.whole import Trace
from ..records import dataclass
from ..run import Values
from .evidence import Weighed, weigh

DRIFT = "kl.drift_without_benefit"
PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price
SPAN = 0.2  # of the plan: an answer that is younger may be a mood, a signal that is gone for less may come back
POINTS = 5  # of a held-out score that say as much about what is to come as the training reward
# The weights of the answer now and of that a span ago lie near what `python bench/forecast.py` finds with each family
# or repository left out (.9, .3, -.5), towards fewer false stops.
NOW = 0.8  # log odds that a gain is to come, for each of those of the answer now
HELD = 0.3  # log odds: for each of those of the answer a span ago
DOUBT = -0.3  # log odds: what was expected a span ago and has not come speaks against it
SUREST = 0.005  # no probability is held to be surer than this


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """The rest of the plan for one series."""

    now: Forecast
    before: Forecast | None  # as it stood a span of the plan ago; None where that says nothing
    p_fallen: float

    @property
    def p_gain(self) -> float:
        """Return the probability that a gain worth having is still to come. Who looks twice as often must not stop
        twice as rashly: a dip that is younger than a span of the plan is only half believed."""
        # What has fallen may come back; to more than it ever had, only if its paths foresee it.
        now = self.now.rises + (self.now.p_gain - self.now.rises) * (1 - self.p_fallen)
        return now if self.before is None else held(now, self.before.p_gain)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The judged series, what may come of it, and what speaks against it."""

    judged: Judged
    score: Trace
    plan: Plan
    outlook: Outlook
    training: Outlook | None  # of the training reward, where a held-out score is judged
    evidence: Weighed
    ceiling: float | None  # the highest value that can be reached, where the run shows it
    drift: Finding | None = None  # the policy moves on and its reward does not

    @property
    def enough(self) -> float:
        """Return how much higher a step has to stand to be the better one: by what is worth having and can be told."""
        return max(self.outlook.now.worth, self.judged.grain)

    @property
    def flat_for(self) -> float:
        """Return how long it has had nearly all of its gain, as a share of the plan: a gain is waited for from then on.
        It may creep up meanwhile, so this is not since when it is told to be flat (`rest_of`)."""
        return self.plan.share_since(gained_by(self.score.curve))

    @property
    def never_moved(self) -> bool:
        return p_moved(self.score.curve) < 0.5 and not left_its_start(self.score.curve, self.score.series)

    @property
    def score_tells(self) -> bool:
        """Tell whether the score itself shows that the policy broke, so that what speaks against its text adds
        nothing."""
        return self.evidence.p_fell_with_the_text(self.outlook.p_fallen) > 0.5

    @property
    def p_gain(self) -> float:
        """Return the probability that a gain worth having is still to come. A held-out score of few points says little
        by itself, and what the training reward does is the best guess at the rest; unless it shows that it is flat."""
        if self.training is None or self.outlook.now.room < 0.5:
            return self.outlook.p_gain
        share = POINTS / (POINTS + int(self.score.series.finite.sum())) * (1 - p_flat(self.score.curve))
        return _probability((1 - share) * _log_odds(self.outlook.p_gain) + share * _log_odds(self.training.p_gain))

    @property
    def p_no_signal(self) -> float:
        """Return the probability that nothing can be learned any more, growing over a span of the plan. What has no
        date holds for as long as it has been flat: from the start, where it never moved."""
        since, plan = self.evidence.no_signal_since, self.plan
        undated = plan.elapsed if self.never_moved else self.flat_for
        return self.evidence.p_no_signal * _believed(undated if since is None else plan.share_since(since))

    @property
    def p_drifts(self) -> float:
        """Return the probability that it has run its course: the policy goes on from its reference and the score does
        not follow. A plateau, and nothing about the score; so it has to last as one has to."""
        if self.drift is None or self.drift.since_step is None:
            return 0.0
        return self.drift.p * (1 - p_rising(self.score.curve)) * _believed(self.plan.share_since(self.drift.since_step))

    @property
    def because(self) -> tuple[str, ...]:
        """Return the ids of the findings that count."""
        counted = (*self.evidence.counted, *((self.drift,) if self.drift is not None and self.p_drifts > 0 else ()))
        return tuple(dict.fromkeys(finding.id for finding in counted))

    @property
    def p_hidden(self) -> float:
        """Return the probability that the score hides what the policy is worth."""
        return 0.0 if self.score_tells else self.evidence.p_gamed

    @property
    def p_no_gain(self) -> float:
        """Return the probability that no gain can come of continuing, whatever the score does."""
        return 1 - (1 - self.evidence.p_gamed) * (1 - self.p_no_signal) * (1 - self.p_drifts)

    @property
    def p_pays(self) -> float:
        """Return the probability by which the verdict is chosen."""
        return self.p_gain * (1 - self.p_no_gain)

    def earlier(self, share: float, price: float) -> Case | None:
        """Return the case of the run cut a share of the plan ago, as what is known by now weighs it; None where nothing
        could be told of it."""
        return _case(self.judged, self.plan.earlier(share), price, self.evidence, self.drift)


def case_of(judged: Judged, findings: Sequence[Finding], *, price: float = PRICE) -> Case | None:
    """Return all that the judgement rests on; None if the judged score has too few points to be read."""
    evidence = weigh([found for found in findings if found.id != DRIFT], judged.plan.first)
    drift = next((found for found in findings if found.id == DRIFT), None)
    return _case(judged, judged.plan, price, evidence, drift)


def held(now: float, before: float) -> float:
    """Return the answer now together with the answer a span of the plan ago."""
    return _probability(NOW * _log_odds(now) + HELD * _log_odds(before) + DOUBT)


def _case(judged: Judged, plan: Plan, price: float, evidence: Weighed, drift: Finding | None) -> Case | None:
    """Return the case as it stood at the time of a plan: the same answers on the run cut there."""
    score = judged.score.until(plan.now)
    ceiling = ceiling_of(judged.run, judged.score.series, judged.scores)
    ahead = None if score is None else _outlook(judged, score, plan, price, ceiling)
    if score is None or ahead is None:
        return None
    training = None if judged.training is None else judged.training.until(plan.now)
    beside = None
    if judged.training is not None and training is not None:
        bound = ceiling_of(judged.run, judged.training.series, judged.scores)
        beside = _outlook(judged, training, plan, price, bound)
    return Case(judged, score, plan, ahead, beside, evidence, ceiling, drift)


def _outlook(judged: Judged, score: Trace, plan: Plan, price: float, ceiling: float | None) -> Outlook | None:
    """Return what may come of a score at the time of a plan; None if too little was logged by then."""
    curve, series = score.curve, score.series
    if not curve.decidable:
        return None
    most = math.inf if ceiling is None else room_below(ceiling, series)
    floor = floor_of(judged.run, series, judged.scores)
    ahead = forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price, ceiling=ceiling, most=most, floor=floor)
    fallen = p_fallen(curve)
    return Outlook(ahead, None if fallen > SAID else _before(score, plan, price, ceiling), fallen)


def _before(score: Trace, plan: Plan, price: float, ceiling: float | None) -> Forecast | None:
    """Return the forecast as it stood a span of the plan ago; None if nothing could be told then."""
    earlier = plan.earlier(SPAN)
    seen = score.until(earlier.now)
    if seen is None or not seen.curve.decidable:
        return None
    return forecast(seen.curve, end=plan.end, elapsed=earlier.elapsed, price=price, ceiling=ceiling)


def _believed(lasted: float) -> float:
    """Return how far a state is believed that has lasted for a share of the plan."""
    return min(max(lasted / SPAN, 0.0), 1.0) ** 2


def _log_odds(p: float) -> float:
    p = min(max(p, SUREST), 1 - SUREST)
    return math.log(p / (1 - p))


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Possible results of continuing: values and their weights, which add up to 1."""

    values: Values
    weights: Values

    def quantile(self, share: float) -> float:
        order = np.argsort(self.values, kind="stable")
        behind = np.cumsum(self.weights[order])
        place = int(np.searchsorted(behind, share * (1 - 1e-9)))
        return float(self.values[order[min(place, len(order) - 1)]])


def upside_of(case: Case) -> Upside:
    """Return what is still to gain."""
    gain = gains(case)
    low, high = map(gain.quantile, TENTHS)
    worth = min(case.outlook.now.worth, _room(case))
    bar = highest(case.score.curve, case.score.series) + worth
    return Upside(
        float(gain.values @ gain.weights), low, high, worth, bar if case.ceiling is None else min(bar, case.ceiling)
    )


def risk_of(case: Case) -> Risk:
    """Return what may be lost. Where nothing is learned any more nothing is unlearned."""
    unpaid = ~_foresee(case)
    change = case.outlook.now.change[unpaid]
    if not len(change):
        change = np.zeros(1)
    moves = (1 - case.p_gain) * (1 - case.p_no_signal)
    worse = 1 - (1 - moves * float((change < -case.outlook.now.worth).mean())) * (1 - case.p_hidden)
    return Risk(round(worse, 4), moves * float(np.maximum(-change, 0.0).mean()))


def gains(case: Case) -> Outcomes:
    """Return the gains that may come, by how likely they are: one distribution, so that chances, intervals, and means
    agree. Paths know what was seen; the probability that going on pays knows more. So the paths that foresee a gain
    carry as much weight as that probability leaves them, a gain that none of them foresees counts as the least that is
    worth having, and all others share the rest. A gain, a loss, and neither exclude each other: whoever keeps the best
    checkpoint loses nothing after a gain."""
    ahead, pays = case.outlook.now, case.p_pays
    foresee = _foresee(case)
    foreseen = min(ahead.rises, pays)
    small = np.maximum(ahead.gain[~foresee], 0.0)
    parts = (
        (ahead.gain[foresee], foreseen),
        (np.array([ahead.worth]), pays - foreseen),
        (small, (1 - case.p_no_gain) - pays if len(small) else 0.0),
    )
    values = np.minimum(np.concatenate([part for part, _ in parts]), _room(case))
    weights = np.concatenate([np.full(len(part), share / max(len(part), 1)) for part, share in parts])
    rest = max(1 - float(weights.sum()), 0.0)
    return Outcomes(np.append(values, 0.0), np.append(weights, rest))


def _room(case: Case) -> float:
    """Return the most that can be gained: a gain is told beside the level now."""
    if case.ceiling is None:
        return math.inf
    return max(case.ceiling - case.score.now, 0.0)


def _foresee(case: Case) -> NDArray[np.bool_]:
    """Return paths that gain what is worth having."""
    return np.asarray(case.outlook.now.gain > case.outlook.now.worth)
