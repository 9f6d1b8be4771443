"""The reward trajectory: what the training reward does; held-out reward and components apart."""

from __future__ import annotations

from ..curve import Curve
from ..curve.bins import LEAST
from ..facts.reward import RewardPeak, RewardReading, Trajectory, TurningPoint
from ..questions import AGREED, WORDS, Shape, shape_of
from ..questions.best import top_step
from ..questions.level import level_at, level_now, start_of
from ..questions.stuck import silence
from ..questions.turn import turned_down, turned_up
from ..reading.reward.apart import components, held_out
from ..reading.reward.stretch import current, reward_now
from ..reading.view import HEADLINE, View
from ..run import Series


def read(view: View) -> RewardReading:
    """What the training reward does, and what the other rewards do beside it."""
    curve, shape, series = reward_now(view), view.shape(HEADLINE), view.run.get(HEADLINE)
    others = (*held_out(view), *components(view))
    if curve is None or shape is None or series is None:
        state = Trajectory("missing") if series is None else Trajectory("not_numbers", points=series.points)
        return RewardReading("undecided", dict.fromkeys(WORDS, 0.0), None, others=others, trajectory=state)
    stretch = current(view)
    if stretch.first is not None:  # a level that was set anew is no peak: what came after it is read by itself
        shape = shape_of(curve, stretch.of(series))
    peak = _peak(shape, curve, series)
    return RewardReading(
        shape.word,
        {word: round(p, 4) for word, p in shape.probabilities.items()},
        peak,
        others=others,
        trajectory=_trajectory(curve, shape, peak, series, stretch.first),
    )


def _peak(shape: Shape, curve: Curve, logged: Series) -> RewardPeak | None:
    if shape.peak is None or shape.peak.probability <= 1 - AGREED:
        return None
    step = top_step(curve, logged)
    low, high = shape.peak.interval
    interval = min(round(low), step), max(round(high), step)
    return RewardPeak(step, interval, round(shape.peak.probability, 4))


def _trajectory(curve: Curve, shape: Shape, peak: RewardPeak | None, logged: Series, since: float | None) -> Trajectory:
    silent = silence(logged)
    return Trajectory(
        "constant" if curve.constant else "read" if curve.decidable else "too_few",
        points=curve.points,
        points_needed=LEAST,
        start=start_of(curve, logged),
        now=level_now(curve, logged),
        peak=None if peak is None else level_at(curve, logged, peak.step),
        turn=_turn(curve, shape, logged),
        noise=curve.noise,
        changed_at=None if since is None else round(since),
        last_number_step=int(logged.steps[-silent - 1]) if silent else None,
    )


def _turn(curve: Curve, shape: Shape, logged: Series) -> TurningPoint | None:
    """Where what its word says began, where that was not at its start."""
    if shape.word in ("accelerating", "rising", "decelerating"):
        return turned_up(curve, logged)
    return turned_down(curve, logged) if shape.word == "declining" else None
