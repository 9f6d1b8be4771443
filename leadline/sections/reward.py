"""The reward trajectory: what the training reward does; held-out reward and components apart."""

from __future__ import annotations

from ..curve.curve import Curve
from ..curve.track import LEAST
from ..facts.finding import TurningPoint
from ..facts.sections import RewardPeak, RewardReading, Trajectory
from ..questions.fall import top_interval, top_step
from ..questions.level import silence
from ..questions.shape import AGREED, WORDS, Shape, turning_point
from ..reading.scores import components, held_out
from ..reading.view import HEADLINE, View
from ..reading.whole import Trace
from ..run import Series


def read(view: View) -> RewardReading:
    """Return what the training reward does, and what the other rewards do beside it."""
    reward, shape = view.of(HEADLINE), view.shape(HEADLINE)
    others = (*held_out(view), *components(view))
    if reward is None or shape is None:
        series = view.run.get(HEADLINE)
        state = Trajectory("missing") if series is None else Trajectory("not_numbers", points=series.points)
        return RewardReading("undecided", dict.fromkeys(WORDS, 0.0), None, others=others, trajectory=state)
    curve, series = reward.curve, reward.series
    peak = _peak(shape, curve, series)
    return RewardReading(
        shape.word,
        {word: round(p, 4) for word, p in shape.probabilities.items()},
        peak,
        others=others,
        trajectory=_trajectory(reward, shape, peak, view.stretch.first),
    )


def _peak(shape: Shape, curve: Curve, logged: Series) -> RewardPeak | None:
    if shape.peak is None or shape.peak.probability <= 1 - AGREED:
        return None
    step = top_step(curve, logged)
    interval = top_interval(curve, logged, shape.peak)
    return RewardPeak(step, interval, round(shape.peak.probability, 4))


def _trajectory(reward: Trace, shape: Shape, peak: RewardPeak | None, since: float | None) -> Trajectory:
    curve, logged, silent = reward.curve, reward.series, silence(reward.series)
    return Trajectory(
        "constant" if curve.constant else "read" if curve.decidable else "too_few",
        points=curve.points,
        points_needed=LEAST,
        start=reward.start,
        now=reward.now,
        peak=None if peak is None else reward.at(peak.step),
        turn=_turn(curve, shape, logged),
        noise=curve.noise,
        changed_at=None if since is None else round(since),
        last_number_step=int(logged.steps[-silent - 1]) if silent else None,
    )


def _turn(curve: Curve, shape: Shape, logged: Series) -> TurningPoint | None:
    """Return where what its word says began, where that was not at its start."""
    if shape.word in ("accelerating", "rising", "decelerating"):
        return turning_point(curve, logged)
    return turning_point(curve, logged, -1.0) if shape.word == "declining" else None
