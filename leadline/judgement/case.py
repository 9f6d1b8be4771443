"""All that the judgement rests on: the one probability that comes of it, and gains and losses that agree with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..curve.curve import TENTHS
from ..facts.finding import SAID, Finding
from ..facts.judgement import Risk, Upside
from ..plan import Plan
from ..questions.direction import gained_by, p_flat, p_moved, p_rising
from ..questions.fall import p_fallen
from ..questions.forecast import Forecast, ceiling_of, floor_of, forecast, room_below
from ..questions.level import Trace
from ..reading.scores import Judged
from ..records import dataclass
from ..run import Values
from .weigh import Weighed, weigh

DRIFT = "kl.drift_without_benefit"
PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price
SPAN = 0.2  # of the plan: a younger answer may be a dip, and a signal that has been gone for less may come back
TRAINING_POINTS = 5  # of a held-out score that say as much about what is to come as the training reward
NOW = 0.8  # log odds that a gain is to come: for each of those of the answer now. This and the next two lie near what
# `python bench/forecast.py` finds with each family or repository left out (.9, .3, -.5), towards fewer false stops.
HELD = 0.3  # log odds: for each of those of the answer a span ago
DOUBT = -0.3  # log odds: what was expected a span ago and has not come speaks against it
SUREST = 0.005  # no probability is held to be surer than this


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The judged series, what may come of it, and what speaks against it."""

    judged: Judged  # by now; what follows is as it stood at the time of the plan
    score: Trace
    plan: Plan
    ahead: Forecast
    p_gain: float  # that a gain worth having is still to come
    p_fallen: float
    weighed: Weighed
    ceiling: float | None  # the highest value that can be reached, where the run shows it
    drift: Finding | None = None  # the policy moves on and its reward does not

    @property
    def enough(self) -> float:
        """Return how much higher a step has to stand to be the better one: by what is worth having and can be told."""
        return max(self.ahead.worth, self.judged.grain)

    @property
    def flat_for(self) -> float:
        """Return how long it has had nearly all of its gain, as a share of the plan: a gain is waited for from then on.
        It may creep up meanwhile, so this is not since when it is told to be flat (`rest_of`)."""
        return self.plan.share_since(gained_by(self.score.curve))

    @property
    def never_moved(self) -> bool:
        return p_moved(self.score.curve) < 0.5 and not self.score.left_its_start

    @property
    def score_tells(self) -> bool:
        """Return whether the score itself shows that the policy broke: findings about its text then add nothing."""
        return self.weighed.p_fell_with_the_text(self.p_fallen) > 0.5

    @property
    def p_no_signal(self) -> float:
        """Return the probability that nothing can be learned any more, growing over a span of the plan. Without a date
        it counts from when the score went flat: from the start, if it never moved."""
        since, plan = self.weighed.no_signal.since, self.plan
        undated = plan.elapsed if self.never_moved else self.flat_for
        return self.weighed.no_signal.p * _believed(undated if since is None else plan.share_since(since))

    @property
    def p_drifts(self) -> float:
        """Return the probability that it has run its course: the policy moves on from its reference and the score does
        not follow. That is a plateau, so it has to last as long as one."""
        if self.drift is None or self.drift.since_step is None:
            return 0.0
        return self.drift.p * (1 - p_rising(self.score.curve)) * _believed(self.plan.share_since(self.drift.since_step))

    @property
    def because(self) -> tuple[str, ...]:
        """Return the ids of the findings that count."""
        return (*self.weighed.ids, DRIFT) if self.p_drifts > 0 else self.weighed.ids

    @property
    def p_hidden(self) -> float:
        """Return the probability that the score hides a loss of policy quality."""
        return 0.0 if self.score_tells else self.weighed.gamed.p

    @property
    def p_no_gain(self) -> float:
        """Return the probability that no gain can come of continuing, whatever the score does."""
        return 1 - (1 - self.weighed.gamed.p) * (1 - self.p_no_signal) * (1 - self.p_drifts)

    @property
    def p_pays(self) -> float:
        """Return the probability by which the verdict is chosen."""
        return self.p_gain * (1 - self.p_no_gain)

    def earlier(self, share: float, price: float) -> Case | None:
        """Return the case of the run cut a share of the plan ago, weighed by what is known now; None if it had too
        few points."""
        return _case(self.judged, self.plan.earlier(share), price, self.weighed, self.drift)


def case_of(judged: Judged, findings: Sequence[Finding], *, price: float = PRICE) -> Case | None:
    """Return all that the judgement rests on; None if the judged score has too few points to be read."""
    drift = next((found for found in findings if found.id == DRIFT), None)
    return _case(judged, judged.plan, price, weigh(findings, judged.plan.first), drift)


def held(now: float, before: float) -> float:
    """Return the answer now together with the answer a span of the plan ago."""
    return _probability(NOW * _log_odds(now) + HELD * _log_odds(before) + DOUBT)


def _case(judged: Judged, plan: Plan, price: float, weighed: Weighed, drift: Finding | None) -> Case | None:
    """Return the case as it stood at the time of a plan: the same answers on the run cut there."""
    score = judged.score.until(plan.now)
    if score is None or not score.curve.decidable:
        return None
    ceiling = ceiling_of(judged.run, judged.score.series, judged.scores)
    ahead = _ahead(judged, score, plan, price, ceiling)
    p_gain = _p_gain(ahead, score, plan, price, ceiling)
    training = None if judged.training is None else judged.training.until(plan.now)
    if judged.training is not None and training is not None and training.curve.decidable and ahead.room >= 0.5:
        # A held-out score of few points says little by itself, and what the training reward does is the best guess at
        # the rest; unless it shows that it is flat.
        bound = ceiling_of(judged.run, judged.training.series, judged.scores)
        beside = _p_gain(_ahead(judged, training, plan, price, bound), training, plan, price, bound)
        share = TRAINING_POINTS / (TRAINING_POINTS + int(score.series.finite.sum())) * (1 - p_flat(score.curve))
        p_gain = _probability((1 - share) * _log_odds(p_gain) + share * _log_odds(beside))
    return Case(judged, score, plan, ahead, p_gain, p_fallen(score.curve), weighed, ceiling, drift)


def _ahead(judged: Judged, score: Trace, plan: Plan, price: float, ceiling: float | None) -> Forecast:
    """Return what may come of a score at the time of a plan."""
    most = math.inf if ceiling is None else room_below(ceiling, score.series)
    floor = floor_of(judged.run, score.series, judged.scores)
    return forecast(
        score.curve, end=plan.end, elapsed=plan.elapsed, price=price, ceiling=ceiling, most=most, floor=floor
    )


def _p_gain(ahead: Forecast, score: Trace, plan: Plan, price: float, ceiling: float | None) -> float:
    """Return the probability that a gain worth having is still to come. Checking twice as often must not stop twice as
    many runs: a dip that is younger than a span of the plan is only half believed."""
    fallen, earlier = p_fallen(score.curve), plan.earlier(SPAN)
    # What has fallen may come back; to more than it ever had, only if its paths foresee it.
    now = ahead.rises + (ahead.p_gain - ahead.rises) * (1 - fallen)
    seen = None if fallen > SAID else score.until(earlier.now)
    if seen is None or not seen.curve.decidable:
        return now
    before = forecast(seen.curve, end=plan.end, elapsed=earlier.elapsed, price=price, ceiling=ceiling)
    return held(now, before.p_gain)


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
    worth = min(case.ahead.worth, _room(case))
    bar = case.score.highest + worth
    return Upside(
        float(gain.values @ gain.weights), low, high, worth, bar if case.ceiling is None else min(bar, case.ceiling)
    )


def risk_of(case: Case) -> Risk:
    """Return what may be lost. A run that learns nothing any more unlearns nothing."""
    change = case.ahead.change[~_foresee(case)]
    if not len(change):
        change = np.zeros(1)
    moves = (1 - case.p_gain) * (1 - case.p_no_signal)
    worse = 1 - (1 - moves * float((change < -case.ahead.worth).mean())) * (1 - case.p_hidden)
    return Risk(round(worse, 4), moves * float(np.maximum(-change, 0.0).mean()))


def gains(case: Case) -> Outcomes:
    """Return the gains that may come, by how likely they are: one distribution, so that chances, intervals, and means
    agree. Paths know what was seen; the probability that going on pays knows more. So the paths that foresee a gain
    carry as much weight as that probability leaves them, a gain that none of them foresees counts as the least that is
    worth having, and all others share the rest. A gain, a loss, and neither exclude each other: the best checkpoint is
    kept, so nothing is lost after a gain."""
    ahead, pays = case.ahead, case.p_pays
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
    """Return the most that can be gained from the level now, which is printed beside it."""
    if case.ceiling is None:
        return math.inf
    return max(case.ceiling - case.score.now, 0.0)


def _foresee(case: Case) -> NDArray[np.bool_]:
    """Return paths that gain what is worth having."""
    return np.asarray(case.ahead.gain > case.ahead.worth)
