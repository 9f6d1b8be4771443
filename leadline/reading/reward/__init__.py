"""The reward trajectory: what the training reward does; held-out reward and components apart; where they part company;
where it broke, and whether that was the policy's doing."""

from __future__ import annotations

from collections.abc import Sequence

from ...curve import Curve
from ...curve.bins import LEAST
from ...facts import Evidence, Finding
from ...facts.reward import PromptsChanged, RewardPeak, RewardReading, Trajectory, TurningPoint
from ...questions import AGREED, WORDS, Shape, shape_of
from ...questions.bars import CLEARLY
from ...questions.best import top_step
from ...questions.level import level_at, level_now, start_of
from ...questions.stuck import silence
from ...questions.turn import turned_down, turned_up
from ...run import Series
from ..not_numbers import not_numbers
from ..prompts import changes_of_prompts
from ..view import HEADLINE, View
from .apart import components, held_out
from .breaks import AccountedBreak, account_for, finding_of
from .fall import fell
from .gap import train_eval_gap
from .stretch import current
from .trade import bought_at_a_cost

__all__ = ["HEADLINE", "RewardPeak", "RewardReading", "read"]


def read(view: View) -> RewardReading:
    """What the training reward does, and what the other rewards do beside it."""
    curve, shape = view.curve(HEADLINE), view.shape(HEADLINE)
    others = (*held_out(view), *components(view))
    series = view.run.get(HEADLINE)
    if curve is None or shape is None or series is None:
        state = Trajectory("missing") if series is None else Trajectory("not_numbers", points=series.points)
        nothing = dict.fromkeys(WORDS, 0.0)
        return RewardReading("undecided", nothing, None, findings=_unreadable(series), others=others, trajectory=state)
    breaks = tuple(account_for(view, found) for found in curve.breaks)
    stretch = current(view)
    if stretch.first is not None:  # a level that was set anew is no peak: what came after it is read by itself
        curve, shape = _after(view, stretch.of(series))
    peak = _peak(shape, curve, series)
    findings = (
        *_unreadable(series),
        *(finding_of(broke, regained=_regained(broke, breaks)) for broke in breaks),
        *fell(curve, breaks, series),
        *_new_prompts(view),
        *train_eval_gap(view, curve, series),
        *bought_at_a_cost(view),
    )
    return RewardReading(
        shape.word,
        {word: round(p, 4) for word, p in shape.probabilities.items()},
        peak,
        findings=findings,
        others=others,
        trajectory=_trajectory(curve, shape, peak, series, stretch.first),
    )


def _regained(broke: AccountedBreak, breaks: Sequence[AccountedBreak]) -> bool:
    """Whether later breaks brought back what was lost at one."""
    later = sum(other.found.size for other in breaks if other.found.step > broke.found.step)
    return broke.fell and later > -CLEARLY * broke.found.size


def _after(view: View, series: Series) -> tuple[Curve, Shape]:
    curve = view.fit(series)
    return curve, shape_of(curve, series)


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


def _new_prompts(view: View) -> tuple[Finding, ...]:
    changes = changes_of_prompts(view)
    if not changes:
        return ()
    evidence = tuple(Evidence("rollouts", change.prompts.before, change.prompts.after) for change in changes)
    facts = PromptsChanged(changes[0].prompts, tuple(change.prompts for change in changes[1:]))
    p = max(change.p for change in changes)
    return (
        Finding(
            "reward.prompts_changed", round(p, 4), "note",
            since_step=changes[-1].prompts.after, evidence=evidence, facts=facts,
        ),
    )  # fmt: skip


def _unreadable(series: Series | None) -> tuple[Finding, ...]:
    if series is None or series.finite.all():
        return ()
    return (not_numbers([series], "critical" if silence(series) else "concern"),)
