"""KL against reward: the policy changes, but does it gain? Now, and as segments over the run."""

from __future__ import annotations

from dataclasses import replace

from ...curve import Curve
from ...facts import Evidence, Finding
from ...facts.kl import KlCourse, KlFrozen, KlReward, KlTurnover, Regime
from ...questions.bars import SAID, SPELL, TWO
from ...questions.fall import p_fallen
from ...questions.gain import known_to
from ...questions.level import level_now, start_of, steps_seen
from ...questions.regime import regime_now, regimes
from ...questions.scatter import leaps
from ...questions.stuck import silence
from ...questions.turnover import turnover_of
from ...questions.way import way_of
from ...run import Series
from ..reward.stretch import reward_now
from ..view import HEADLINE, View
from .destructive import destructive
from .distance import UNIDENTIFIED, distance, distance_now, distance_series
from .drift import drift_without_benefit
from .resets import resets
from .unlogged import without_kl
from .unmoved import p_near, unmoved

__all__ = ["KlReward", "Regime", "read"]

EACH, SAID = SAID, SAID * SAID  # joint probability: two directions, each at the bar at which a single word is said


def read(view: View) -> KlReward:
    """How KL and reward move together, now and over the run."""
    whole, reward = distance(view), reward_now(view)
    if whole is None:
        stays = () if reward is None or not reward.decidable else unmoved(view, None, reward)
        instead = without_kl(view)
        return replace(instead, findings=stays, course=_unidentified(view) if instead.state == "not_logged" else None)
    kl = distance_now(view)
    if reward is None or not reward.decidable or kl is None or not kl.decidable:
        return KlReward(state="too_little", findings=resets(view, whole), course=_course(view, whole))
    word, p = regime_now(kl, reward)
    stretches = regimes(kl, reward)
    lost = p_fallen(reward) > SAID
    stays = unmoved(view, whole, reward)
    anew = resets(view, whole)
    # After a reset KL tells how far the policy is from where it was then, not how far it has come.
    frozen = any(_next_to_it(found) for found in stays) or (not anew and p_near(view, whole, reward) > EACH)
    findings = (
        *(() if lost else anew),
        *stays,
        *(() if frozen or stays else drift_without_benefit(view, kl, reward)),
        *destructive(view, kl, reward),
        *_over_optimisation(kl, reward),
    )
    # The regime now and that of the last stretch are two looks at one thing: where they differ, neither is sure.
    said = p > SAID and stretches[-1].regime == word and not _ended(view)
    said = said and (frozen or not _erratic(view, word)) and _stood_before(view, stretches[-1])
    begun = stretches[-1] if said and not frozen else None
    if begun is not None and known_to(*begun.first_between, reward) is None:
        begun = None
    return KlReward(
        word if said else "undecided",
        round(p, 4),
        None if begun is None else begun.first_step,
        None if begun is None else begun.first_between,
        stretches if frozen or not _erratic(view, word) else (),
        findings=findings,
        state="read",
        below_best=said and lost and word.endswith("/flat"),
        course=_course(view, whole, moves=said and not word.startswith("stable")),
        frozen=frozen,
    )


def _erratic(view: View, word: str) -> bool:
    """Whether KL would be called stable though its points leap by factors: then nobody knows what the policy does."""
    series = distance_series(view.run)
    return word.startswith("stable") and series is not None and leaps(series) is not None


def _stood_before(view: View, last: Regime) -> bool:
    """Whether a regime has lasted for many points, or stood one point ago, or two where that one was odd: one last
    point is none."""
    kl, reward = distance_series(view.run), view.run.get(HEADLINE)
    if kl is None or reward is None:
        return False
    if min(int((series.steps[series.finite] >= last.first_step).sum()) for series in (kl, reward)) >= SPELL:
        return True
    steps = reward.steps[reward.finite]
    earlier = ((kl.until(int(step)), reward.until(int(step))) for step in steps[-2 : -2 - TWO : -1])
    fits = (tuple(map(view.fit, pair)) for pair in earlier if all(series.finite.any() for series in pair))
    return any(regime_now(*pair)[0] == last.regime for pair in fits)


def _course(view: View, kl: Curve, *, moves: bool = False) -> KlCourse | None:
    """What KL itself did. `moves`: the regime says that it moves now, so it has not been still."""
    series = distance_series(view.run)
    return None if series is None else _course_of(kl, series, moves=moves)


def _unidentified(view: View) -> KlCourse | None:
    """What a KL did of which the log does not say whose it is; it is never read against the reward."""
    series, curve = view.run.get(UNIDENTIFIED), view.curve(UNIDENTIFIED)
    return None if series is None or curve is None else replace(_course_of(curve, series), identified=False)


def _course_of(kl: Curve, series: Series, *, moves: bool = False) -> KlCourse:
    start, now = start_of(kl, series), level_now(kl, series)
    way = way_of(kl) if kl.decidable else "too_few"
    # Since a reset or a break the paths may go one way and the levels, from the first point on, the other.
    against = (way == "rose" and now <= start) or (way == "fell" and now >= start)
    erratic = leaps(series) if way == "still" else None
    return KlCourse("moved" if against or (moves and way == "still") else way, start, now, erratic=erratic)


def _next_to_it(found: Finding) -> bool:
    """Whether the policy was never anywhere else than at its reference."""
    return isinstance(found.facts, KlFrozen) and found.facts.since_step is None and not found.facts.held


def _over_optimisation(kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Reward that has turned over along the distance from the reference."""
    turned = turnover_of(kl, reward)
    if turned is None or turned.p <= SAID:
        return ()
    step, last = turned.step, steps_seen(reward)[1]
    facts = KlTurnover(step, turned.kl, turned.kl_now)
    evidence = (Evidence(kl.metric, step, last), Evidence(HEADLINE, step, last))
    return (
        Finding("kl.over_optimisation", round(turned.p, 4), "concern", since_step=step, evidence=evidence, facts=facts),
    )


def _ended(view: View) -> bool:
    """Whether either is no number any more: where they go now is not known."""
    both = (distance_series(view.run), view.run.get(HEADLINE))
    return any(series is not None and silence(series) for series in both)
