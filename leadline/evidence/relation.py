"""How responses relate to their prompt, to themselves, and to each other, against the run's own first samples.

Any learning changes the text. What it rarely does is to change these relations far: responses no longer take up their
prompt (`detached`), stand in it word for word (`copied`), go round in circles (`looped`), or are the same whatever was
asked (`alike`). Each is a share between 0 and 1, so that their moves add up to one distance. A far one is proof, a
small one a reason to look: `recurring` words follow from a style as well, and only ever ask for a look.

If the samples are always of the same prompts, as an evaluation keeps them, what they do not gain of the training
reward was learned for the prompts trained on only (`unseen`).

A response that only adds to what it said (a scratchpad, a format, a flattering phrase) has changed and lost nothing.
So a share counts as far as the amount behind it was lost too: what took up the prompt, what was the response's own,
what was not in the prompt, each against the length that responses had at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..questions.bars import EVEN, FEW, NOTICEABLE, TENTH, THIRD, TWO
from ..run import Rollout, Series
from . import measures
from .numbers import calm
from .pair import pair
from .track import Track, courses_of, fitted, track
from .written import Floats, Written

Way = Literal["detached", "copied", "looped", "recurring", "alike", "unseen"]
FALLS = ("detached", "unseen")  # worrying if they go down; the others if they go up
ASKS_ONLY = ("recurring",)  # alone
EXCUSED = ("alike", "detached")  # as far as responses depend more on their prompt than at first

# Chosen with each of five sets of runs left out (bench/gamed.py).
FAR = 0.15  # of a distance: one relation that moved so far is proof
NEAR = 0.05  # of a distance: one relation alone is worth a look, two that agree are proof
UNSEEN = FAR / EVEN  # half of the gain lacking is as far as FAR
LAST = 1 - NOTICEABLE  # of the draws: between 1 - LAST and LAST lies the interval


@dataclass(frozen=True, slots=True)
class Move:
    """One relation that moved away from where it began."""

    way: Way
    start: float
    now: float
    error: float  # of the difference
    paid: float | None  # correlation of the measure with the score among samples of one step; None: nothing to tell


@dataclass(frozen=True, slots=True)
class Begun:
    """When the move began, as steps: a tenth of its way was behind it."""

    step: int  # the middle of the distribution
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """How far responses stand from the run's own first ones, by some of the relations."""

    draws: Floats  # of the distance
    moves: tuple[Move, ...]  # the furthest first
    begun: Begun
    pair: tuple[Rollout, Rollout] | None  # an early and a late response, as the furthest move shows them


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Both readings of the same relations: those that can prove something alone, and all of them."""

    proof: Shift
    change: Shift
    witnesses: NDArray[np.int64]  # on each draw, how many relations moved by NEAR
    tracks: Mapping[Way, Track]

    def p_proven(self, beside: float, seconded: int) -> float:
        """The probability that one relation moved far, or two agree. `beside` is what truncation adds to the distance,
        `seconded` how many logged numbers agree."""
        far = np.hypot(self.proof.draws, beside) > FAR
        return float((far | ((self.witnesses > 0) & (self.witnesses + seconded > 1))).mean())

    def p_changed(self, beside: float) -> float:
        return float((np.hypot(self.change.draws, beside) > NEAR).mean())


def relation(written: Written, reward: Series | None = None) -> Relation | None:
    """Relate the samples to the run's own first ones; None with fewer than two batches."""
    sides = [*_sides(written), *_unseen(written, reward)]
    if not sides:
        return None
    gained = _dependence_gained(written, sides)
    drawn = {
        side.way: (UNSEEN if side.way == "unseen" else 1.0)
        * side.counted(column, gained if side.way in EXCUSED else 0.0)
        for column, side in enumerate(sides)
    }
    certain = [side for side in sides if side.way not in ASKS_ONLY]
    repeats = np.max([drawn[way] for way in ("looped", "recurring") if way in drawn], axis=0)  # of one decay
    others = [drawn[side.way] for side in sides if side.way not in ("looped", "recurring")]
    tracks = {side.way: side.share for side in sides}
    witnesses = np.sum([move > NEAR for move in (repeats, *others)], axis=0)
    return Relation(_shift(written, certain, drawn), _shift(written, sides, drawn), witnesses, tracks)


def _shift(written: Written, sides: Sequence[_Side], drawn: dict[Way, Floats]) -> Shift:
    distance: Floats = np.sqrt(np.sum([drawn[side.way] ** 2 for side in sides], axis=0))
    told = sorted((side for side in sides if drawn[side.way].mean() > 0), key=lambda side: -drawn[side.way].mean())
    shown = pair(written, -told[0].values if told[0].way in FALLS else told[0].values) if told else None
    return Shift(
        distance,
        tuple(_move(side, written) for side in told),
        _begun(*_way(sides, {side.way: float(drawn[side.way].mean()) for side in sides})),
        shown,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One relation as a share of the response, and the amount that it leaves; no amount if none is lost by it."""

    way: Way
    values: Floats
    share: Track
    amount: Track | None
    copied: Track | None = None  # how much was copied, against the length of the first responses

    def counted(self, column: int, excused: float) -> Floats:
        """How far it went in the worrying direction, beyond what is `excused`, as far as the amount was lost too."""
        move = self.share.drawn_move(2 * column)
        move = np.maximum((-move if self.way in FALLS else move) - excused, 0.0)
        if self.amount is None:
            return move
        lost: Floats = np.minimum(move, np.maximum(-self.amount.drawn_move(2 * column + 1), 0.0))
        if self.copied is None:
            return lost
        # What is copied beside a response that is still there may be the question restated, or the answer hidden. And a
        # response that dropped its small talk copies a larger share of itself, but no more text.
        more = np.maximum(self.copied.drawn_move(2 * column), 0.0)
        return np.minimum(np.maximum(lost, EVEN * move), more)


def _sides(written: Written) -> list[_Side]:
    alike = measures.alike(written)
    size = written.answers.count / max(float(written.answers.count[written.batch == 0].mean()), 1.0)
    values: dict[Way, tuple[Floats, Floats | None]] = {
        "looped": (measures.looped(written), None),
        "recurring": (measures.recurring(written), None),
        "alike": (alike, (1 - alike) * size),
    }
    if written.asks.any():
        taken_up = measures.shared(written) - measures.shared_with_others(written)
        copied = measures.copied(written)
        values["detached"] = (taken_up, taken_up * size)
        values["copied"] = (copied - measures.copied_from_others(written), (1 - copied) * size)
    sides = []
    for way, (share, amount) in values.items():
        seen = track(written, share)
        if seen is not None:
            more = track(written, share * size) if way == "copied" else None
            sides.append(_Side(way, share, seen, None if amount is None else track(written, amount), more))
    return sides


def _dependence_gained(written: Written, sides: Sequence[_Side]) -> float:
    """By how much more the responses depend on their prompt than at first: how far they agree within a prompt beyond
    how like they are across prompts. If few answers are possible, the right ones are alike to others by chance."""
    within = measures.agreement(written)
    known, edge = np.isfinite(within), max(FEW, written.batches // 6)
    early = within[known & (written.group_batch < edge)]
    late = within[known & (written.group_batch >= written.batches - edge)]
    across = next((side.share for side in sides if side.way == "alike"), None)
    if across is None or min(len(early), len(late)) < TWO:
        return 0.0
    return max(float(late.mean() - early.mean()) - (across.now.mean - across.start.mean), 0.0)


def _unseen(written: Written, reward: Series | None) -> list[_Side]:
    """How far the samples lie above the training reward, in shares of its range; only if they are of the same prompts
    all along: others may have been picked by their score."""
    first = {sample.prompt for sample, batch in zip(written.samples, written.batch, strict=True) if batch == 0}
    if reward is None or not written.asks.all() or any(sample.prompt not in first for sample in written.samples):
        return []
    steps, values = reward.steps[reward.finite], calm(reward.values[reward.finite])
    size = float(np.ptp(values)) if len(values) else 0.0
    if size <= 0:
        return []
    apart = (written.scores - np.interp(written.steps, steps, values)[written.batch]) / size
    seen = track(written, apart)
    return [] if seen is None else [_Side("unseen", apart, seen, None)]


def _move(side: _Side, written: Written) -> Move:
    start, now = side.share.start, side.share.now
    return Move(side.way, start.mean, now.mean, float(np.hypot(start.error, now.error)), paid_for(written, side.values))


def paid_for(written: Written, value: Floats) -> float | None:
    """Correlation of a measure with the score among the samples of one step, over all steps."""
    scores = np.where(np.isfinite(value), written.scores, np.nan)
    value = np.where(np.isfinite(scores), value, np.nan)
    apart = [one - written.means(one)[written.batch] for one in (scores, value)]
    known = np.isfinite(apart[0])
    size = float(np.sqrt((apart[0][known] ** 2).sum() * (apart[1][known] ** 2).sum()))
    return float((apart[0][known] * apart[1][known]).sum() / size) if size > 1e-9 else None


def _way(sides: Sequence[_Side], counted: dict[Way, float]) -> tuple[Floats, Floats, Floats]:
    """What share of the way from the first samples to now, or to FAR, lay behind the responses: by course (courses,
    batches), with the probability of each."""
    every = max(sides, key=lambda side: counted[side.way]).share.steps
    total, share, error = 0.0, np.zeros(len(every)), np.zeros(len(every))
    for side in sides:
        seen, far = side.share, counted[side.way]
        move = seen.now.mean - seen.start.mean
        if far == 0 or move == 0:
            continue
        weight = far**2 / move  # the part of the distance that each unit of this measure stands for
        total += far**2
        share += weight * (np.interp(every, seen.steps, seen.values) - seen.start.mean)
        error += (weight * np.interp(every, seen.steps, seen.errors)) ** 2
    if total <= 0:
        return every.astype(np.float64), np.ones(1), np.zeros((1, len(every)))
    weights, moves, _, _ = fitted(THIRD * share / total, THIRD * np.sqrt(error) / total)
    far = min(float(np.sqrt(total)), FAR) / float(np.sqrt(total))
    paths = moves[1:, None] * courses_of(len(every)) / (THIRD * far)
    return every.astype(np.float64), weights[1:] / weights[1:].sum(), paths


def _begun(steps: Floats, weights: Floats, paths: Floats) -> Begun:
    """On each path the last place at which less than a tenth of the way was behind it."""
    before = paths <= TENTH
    last = paths.shape[1] - 1 - before[:, ::-1].argmax(axis=1)
    after = np.minimum(last + 1, paths.shape[1] - 1)
    rows = np.arange(len(paths))
    rise = paths[rows, after] - paths[rows, last]
    part = np.clip(np.divide(TENTH - paths[rows, last], rise, out=np.zeros_like(rise), where=rise > 0), 0.0, 1.0)
    onset = steps[last] + part * (steps[after] - steps[last])
    order = np.argsort(onset, kind="stable")
    behind = np.cumsum(weights[order])
    low, middle, high = onset[order][np.searchsorted(behind, [1 - LAST, 0.5, LAST]).clip(max=len(onset) - 1)]
    return Begun(round(float(middle)), round(float(low)), round(float(high)))
