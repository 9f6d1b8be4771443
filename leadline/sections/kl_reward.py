"""KL against reward: the policy changes, but does it gain? Now, and as segments over the run."""

from __future__ import annotations

from dataclasses import replace

from ..curve import Curve
from ..facts.kl import KlCourse, KlReward, Regime
from ..findings import kl_frozen
from ..questions.bars import SAID, SPELL, TWO
from ..questions.fall import p_fallen
from ..questions.gain import known_to
from ..questions.level import level_now, start_of
from ..questions.regime import regime_now, regimes
from ..questions.scatter import leaps
from ..questions.stuck import silence
from ..questions.way import way_of
from ..reading.kl_and_reward.distance import UNIDENTIFIED, distance, distance_series
from ..reading.kl_and_reward.reach import readable
from ..reading.kl_and_reward.unlogged import without_kl
from ..reading.view import HEADLINE, View
from ..run import Series

BOTH = SAID * SAID  # joint probability: two directions, each at the bar at which a single word is said


def read(view: View) -> KlReward:
    """How KL and reward move together, now and over the run."""
    whole = distance(view)
    if whole is None:
        instead = without_kl(view)
        return replace(instead, course=_unidentified(view) if instead.state == "not_logged" else None)
    kl, reward = readable(view)
    if kl is None or reward is None:
        return KlReward(state="too_little", course=_course(view, whole))
    word, p = regime_now(kl, reward)
    stretches = regimes(kl, reward)
    lost = p_fallen(reward) > BOTH
    frozen = kl_frozen.next_to_it(view)
    # The regime now and that of the last stretch are two looks at one thing: where they differ, neither is sure.
    said = p > BOTH and stretches[-1].regime == word and not _ended(view)
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


def _ended(view: View) -> bool:
    """Whether either is no number any more: where they go now is not known."""
    both = (distance_series(view.run), view.run.get(HEADLINE))
    return any(series is not None and silence(series) for series in both)
