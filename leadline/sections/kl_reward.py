"""KL against reward: the policy changes, but does it gain? Now, and as segments over the run."""

from __future__ import annotations

from dataclasses import replace

from ..facts.finding import SAID
from ..facts.sections import Drift, KlCourse, KlReward, Regime
from ..questions.direction import known_to, regime_now, regimes, way_of
from ..questions.fall import p_fallen
from ..questions.level import SPELL, silence
from ..reading.kl import LENGTH, MEAN, SUM, UNIDENTIFIED, distance, near_reference, readable
from ..reading.view import View
from ..reading.whole import Trace

AGREE = 2  # looks before this one that must agree, with fewer
INSTEAD = ("entropy", LENGTH)
BOTH = SAID * SAID  # joint probability: two directions, each at the bar at which a single word is said


def read(view: View) -> KlReward:
    """Return how KL and reward move together, now and over the stretch that counts."""
    kl = distance(view)
    if kl is None:
        instead = _without_kl(view)
        return replace(instead, course=_unidentified(view) if instead.state == "not_logged" else None)
    both = readable(view)
    if both is None:
        return KlReward(state="too_little", course=_course(kl))
    reward = both[1]
    word, p = regime_now(kl.curve, reward.curve)
    stretches = regimes(kl.curve, reward.curve)
    lost = p_fallen(reward.curve) > BOTH
    frozen = near_reference(view)
    # The regime now and that of the last stretch are two looks at one thing: where they differ, neither is sure.
    said = p > BOTH and stretches[-1].regime == word and not any(silence(part.series) for part in both)
    said = said and _stood_before(both, stretches[-1])
    begun = stretches[-1] if said and not frozen else None
    if begun is not None and known_to(*begun.first_between, reward.curve) is None:
        begun = None
    return KlReward(
        word if said else "undecided",
        round(p, 4),
        None if begun is None else begun.first_step,
        None if begun is None else begun.first_between,
        stretches,
        state="read",
        below_best=said and lost and word.endswith("/flat"),
        course=_course(kl, moves=said and not word.startswith("stable")),
        frozen=frozen,
    )


def _stood_before(both: tuple[Trace, Trace], last: Regime) -> bool:
    """Tell whether a regime has lasted for many points, or stood one point ago, or two where that one was odd: one last
    point is none."""
    logged = [part.series for part in both]
    if min(int((series.steps[series.finite] >= last.first_step).sum()) for series in logged) >= SPELL:
        return True
    steps = logged[1].steps[logged[1].finite]
    earlier = ([part.until(step) for part in both] for step in steps[-2 : -2 - AGREE : -1].tolist())
    return any(
        regime_now(kl.curve, reward.curve)[0] == last.regime
        for kl, reward in earlier
        if kl is not None and reward is not None
    )


def _course(kl: Trace, *, moves: bool = False) -> KlCourse:
    """Return what KL itself did. `moves`: the regime says that it moves now, so it has not been still."""
    start, now = kl.start, kl.now
    way = way_of(kl.curve) if kl.curve.decidable else "too_few"
    # Since a reset or a break the paths may go one way and the levels, from the first point on, the other.
    against = (way == "rose" and now <= start) or (way == "fell" and now >= start)
    return KlCourse("moved" if against or (moves and way == "still") else way, start, now)


def _unidentified(view: View) -> KlCourse | None:
    """Return what a KL did of which the log does not say whose it is; it is never read against the reward."""
    kl = view.of(UNIDENTIFIED)
    return None if kl is None else replace(_course(kl), identified=False)


def _without_kl(view: View) -> KlReward:
    """Return what can be said of drift without KL."""
    logged = any(series.finite.any() for name in (MEAN, SUM) if (series := view.run.get(name)) is not None)
    names = (*INSTEAD, *view.names(lambda name: name.startswith("mismatch/"))[:1])
    drift = tuple(found for name in names if (found := _drift(view, name)) is not None)
    return KlReward("no_kl", state="always_zero" if logged else "not_logged", drift=drift)


def _drift(view: View, name: str) -> Drift | None:
    part = view.of(name)
    if part is None or not part.curve.decidable:
        return None
    return Drift(name, way_of(part.curve), part.start, part.now)
