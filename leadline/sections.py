"""Topics as a whole, beside their findings: what reward, KL against reward, and the policy loss do."""

from __future__ import annotations

from collections.abc import Sequence

from .curve.cells import LEAST
from .facts.finding import SAID, Finding
from .facts.sections import (
    Drift,
    Explanation,
    KlCourse,
    KlReward,
    LossNumbers,
    OtherReward,
    PolicyLoss,
    RewardPeak,
    RewardReading,
    Trajectory,
)
from .questions.direction import (
    is_dated,
    p_about_zero,
    p_going_down,
    p_rests_at_zero,
    p_rising,
    regimes,
    way_of,
)
from .questions.fall import p_fallen, top_interval, top_step
from .questions.level import Trace, silence
from .questions.shape import AGREED, WORDS, Shape, shape_of, turning_point
from .reading.kl import MEAN, SUM, UNIDENTIFIED, distance_series, kl_and_reward, near_reference
from .reading.loss import by_construction, centred, loss_series
from .reading.scores import component_names, held_out_names
from .reading.view import View
from .records import replace
from .run import LENGTH, REWARD

INSTEAD = ("entropy", LENGTH)
BOTH = SAID * SAID  # joint probability: two directions, each at the bar at which a single word is said


def reward_of(view: View) -> RewardReading:
    """Return what the training reward does, and what the other rewards do beside it."""
    reward, names = view.of(REWARD), (*held_out_names(view), *component_names(view).values())
    parts = ((name, part, shape_of(part)) for name in names if (part := view.of(name)) is not None)
    others = tuple(OtherReward(name, did.word, round(did.p, 4), part.start, part.now) for name, part, did in parts)
    if reward is None:
        series = view.run.get(REWARD)
        state = Trajectory("missing") if series is None else Trajectory("not_numbers", points=series.points)
        return RewardReading("undecided", dict.fromkeys(WORDS, 0.0), None, others=others, trajectory=state)
    shape, peak = shape_of(reward), None
    if shape.peak is not None and shape.peak.probability > 1 - AGREED:
        peak = RewardPeak(top_step(reward), top_interval(reward, shape.peak), round(shape.peak.probability, 4))
    return RewardReading(
        shape.word,
        {word: round(p, 4) for word, p in shape.probabilities.items()},
        peak,
        others=others,
        trajectory=_trajectory(reward, shape, peak, view.stretch.since),
    )


def _trajectory(reward: Trace, shape: Shape, peak: RewardPeak | None, since: int | None) -> Trajectory:
    curve, logged, silent = reward.curve, reward.series, silence(reward.series)
    turn = None  # where the course that its word names began, if not at its start
    if shape.word in ("accelerating", "rising", "decelerating"):
        turn = turning_point(reward)
    elif shape.word == "declining":
        turn = turning_point(reward, -1.0)
    return Trajectory(
        "constant" if curve.constant else "read" if curve.decidable else "too_few",
        points=curve.points,
        points_needed=LEAST,
        start=reward.start,
        now=reward.now,
        peak=None if peak is None else reward.at(peak.step),
        turn=turn,
        noise=curve.noise,
        changed_at=since,
        last_number_step=int(logged.steps[-silent - 1]) if silent else None,
    )


def kl_reward_of(view: View) -> KlReward:
    """Return how KL and reward move together, now and over the stretch that counts."""
    kl = view.of(distance_series(view.run))
    if kl is None:
        return _without_kl(view)
    both = kl_and_reward(view)
    if both is None:
        return KlReward(state="too_little", course=_course(kl))
    reward = both[1]
    stretches, p = regimes(kl.curve, reward.curve)
    lost = p_fallen(reward.curve) > BOTH
    word, frozen = stretches[-1].regime, near_reference(view)
    said = p > BOTH and not any(silence(part.series) for part in both)
    begun = stretches[-1] if said and not frozen else None
    if begun is not None and not is_dated(*begun.first_between, reward.curve):
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


def _course(kl: Trace, *, moves: bool = False) -> KlCourse:
    """Return what KL itself did. `moves`: the regime says that it moves now, so it has not been still."""
    start, now = kl.start, kl.now
    way = way_of(kl.curve) if kl.curve.decidable else "too_few"
    # Since a reset or a break the paths may go one way and the levels, from the first point on, the other.
    against = (way == "rose" and now <= start) or (way == "fell" and now >= start)
    return KlCourse("moved" if against or (moves and way == "still") else way, start, now)


def _without_kl(view: View) -> KlReward:
    """Return what can be said of drift without KL."""
    logged = any(series.finite.any() for name in (MEAN, SUM) if (series := view.run.get(name)) is not None)
    names = (*INSTEAD, *view.names(lambda name: name.startswith("mismatch/"))[:1])
    drift = tuple(
        Drift(name, way_of(part.curve), part.start, part.now)
        for name in names
        if (part := view.readable(name)) is not None
    )
    if logged:
        return KlReward("no_kl", state="always_zero", drift=drift)
    kl = view.of(UNIDENTIFIED)  # the log does not say whose it is, so it is never read against the reward
    course = None if kl is None else replace(_course(kl), identified=False)
    return KlReward("no_kl", state="not_logged", course=course, drift=drift)


def policy_loss_of(view: View, findings: Sequence[Finding]) -> PolicyLoss:
    """Return what the logged policy loss is, and what it does."""
    series = loss_series(view.run)
    if series is None:
        return PolicyLoss(because="missing")
    loss = view.whole.of(series)  # read for itself, and with every jump in it: never against the reward
    if loss is None:
        return PolicyLoss(because="not_numbers", numbers=LossNumbers(points=series.points))
    return by_construction(view.run, series) or _pattern(view, loss, findings)


def _pattern(view: View, loss: Trace, findings: Sequence[Finding]) -> PolicyLoss:
    """Return the pattern of a loss that carries evidence."""
    curve = loss.curve
    numbers = LossNumbers(points=curve.points, start=loss.start, now=loss.now, noise=curve.noise)
    if not curve.decidable:
        return PolicyLoss(informative=True, because="too_few", numbers=numbers)
    if any(finding.id == "policy_loss.jump" for finding in findings):
        return PolicyLoss(True, "jumped", because="jumped", numbers=numbers)
    if max(p_about_zero(curve), p_rests_at_zero(curve)) > SAID:
        because: Explanation = "about_zero" if centred(view.run) else "around_zero"
        return PolicyLoss(True, "oscillating", because=because, numbers=numbers)
    down, up, moved = p_going_down(curve), p_rising(curve), loss.now - loss.start
    if down > SAID and moved < 0:
        return PolicyLoss(True, "declining", because="falling", numbers=numbers)
    if up > SAID and moved > 0:
        return PolicyLoss(True, "undecided", because="rising", numbers=numbers)
    if 1 - down - up > SAID:
        return PolicyLoss(True, "stable", because="at_rest", numbers=numbers)
    return PolicyLoss(True, "undecided", because="open", numbers=numbers)
