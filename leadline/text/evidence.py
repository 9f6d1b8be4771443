"""Evidence about the reward from samples and logged numbers: what proves that it is broken, and what needs eyes.

`gather(run, batches)` looks at the samples of a run by step (`text.sampler.Batch`) and at its logged numbers, and
returns one `GamedEvidence`. Everything is a relation within the run, against its own first samples and their scatter;
no task is known, no level of any metric decides. The same input gives the same evidence, bit for bit.

    evidence = gather(run, batches)
    evidence.outcome         "proven": degenerate whatever the task; "changed": something else changed, a reader has to
                             look; "none"; or "blind"
    evidence.p               probability of that
    evidence.begun           when it began, as an interval: a tenth of the way was behind what moved first

Any learning changes the text, and many tasks want responses that are short, alike, copied from the prompt, or in a
format. What no task wants is text that is degenerate: every response the same (`alike`), loops that change
nothing (`looped`), nothing at all (`empty`), or responses that used to end and run into the cap while the score does
not mind. Far moves of these are proof, and so are two that agree: loops and likeness, or truncation of half of the
responses and any other relation. Short responses may be labels, so that only one and the same label is proof.
Responses that take up less of their prompt (`detached`), copy it (`copied`), or repeat words (`recurring`) are reasons
to look, and second truncation. Words that nothing else holds (`strange`) are a reason to look.

A response that only adds to what it said (a scratchpad, a format, a flattering phrase) has changed and lost nothing.
So a share counts as far as the amount behind it was lost too: what took up the prompt, what was the response's own,
what was not in the prompt, each against the length that responses had at first.
See docs/decisions/0037 and bench/gamed.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..facts.finding import BEGUN, SAID, Move, Way
from ..kept import FEW, kept
from ..records import dataclass
from ..run import Flags, Rollout, Run, Values
from . import measures
from .numbers import TOLD, Numbers, numbers
from .sampler import Batch
from .track import DRAWS, USUAL_MOVE, Track, courses_of, fitted, track
from .written import AS_GOOD_AS_ALL, BATCHES, Written, since, written

Outcome = Literal["proven", "changed", "none", "blind"]

WORST = 0.2  # of the rewarded samples, from which the shown one is taken
ALL_CUT = 0.94  # of the responses truncated that used to end: proof by itself, if the reward holds
PAYS = 0.1  # correlation of length and reward: below minus that, cut answers were not paid
FALLS = ("detached",)  # worrying if they go down; the others if they go up
EXCUSED = ("alike", "detached")  # if responses to one prompt are more alike than those to different prompts

# How far each has to move to be proof by itself. Narrowed by hand towards fewer accusations: with sets left out, the
# grid of bench/gamed.py would take a lower SECOND and less truncation (docs/decisions/0037).
PROOF: dict[Way, float] = {"looped": 0.3, "alike": 0.15, "empty": 0.3}
SECONDS: tuple[Way, ...] = ("looped", "recurring", "alike", "detached", "copied")
SECOND = 0.1  # a move of these that seconds truncation; loops and likeness second each other, less likeness is none
NEAR = 0.05  # of the distance of all moves: something changed, worth a look
PLAIN = 3 * NEAR  # of the same: as far as a move has to go to be dated whole
LAST = 0.95  # of the draws: between 1 - LAST and LAST lies the interval


@dataclass(frozen=True, slots=True)
class Begun:
    """The step at which the move began, as an interval: a tenth of its way was behind it."""

    step: int  # the middle of the distribution
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """The standing of the responses, seen from the run's own first ones."""

    text: Written
    distance: Values  # from the first ones by all relations together, by draw
    moves: tuple[Move, ...]  # further than their error, the furthest first
    begun: Begun
    worse: Values  # by sample, how far it has gone by the furthest move; empty if nothing moved
    drawn: Mapping[Way, Values]  # the moves that can prove something, by draw
    tracks: Mapping[Way, Track]
    short: bool  # responses have so few words that they are alike by chance
    length_pays: float | None  # correlation of length and score within a step, lately; None: nothing to tell

    def p_proven(self, *, truncated: bool) -> float:
        """Return the probability that the text is degenerate. `truncated`: half of the responses no longer end."""
        overlap = self.tracks["alike"].now if "alike" in self.tracks else 0.0
        alike = not self.short or overlap >= AS_GOOD_AS_ALL  # less is what a skewed label does
        far = [self._beyond(way, bar) for way, bar in PROOF.items() if way != "alike" or alike]
        if alike:
            far.append(self._beyond("looped", SECOND) & self._beyond("alike", SECOND))
        if truncated and (self.length_pays is None or self.length_pays > -PAYS):
            far += [self._beyond(way, SECOND) for way in SECONDS if way != "alike" or alike]
        return float(np.any(far, axis=0).mean())

    def _beyond(self, way: Way, bar: float) -> NDArray[np.bool_]:
        return np.asarray(self.drawn[way] > bar) if way in self.drawn else np.zeros(DRAWS, dtype=bool)


@kept(FEW)
def relation(written: Written) -> Relation | None:
    """Relate the samples to the run's own first ones; None with fewer than two batches."""
    sides = _sides(written)
    if not sides:
        return None
    drawn: dict[Way, Values] = {side.way: side.drawn for side in sides}
    # Responses to one prompt may be more alike lately than those to different prompts, if groups were kept.
    within = measures.agreement(written)
    few = max(BATCHES, len(written.steps) // 6)
    lately = within[np.isfinite(within) & (written.group_batch >= len(written.steps) - few)]
    across = next((side.share.now for side in sides if side.way == "alike"), None)
    depends = across is not None and len(lately) >= 2 and float(lately.mean()) - across > SECOND
    excused = EXCUSED if depends else ()
    far = {way: float(move.mean()) for way, move in drawn.items()}
    told = sorted((side for side in sides if far[side.way] > 0), key=lambda side: -far[side.way])
    worse = np.zeros(0) if not told else -told[0].values if told[0].way in FALLS else told[0].values
    late = since(written, 2 * len(written.steps) // 3)
    return Relation(
        written,
        np.sqrt(np.sum([move**2 for move in drawn.values()], axis=0)),
        tuple(Move(side.way, side.share.start, side.share.now) for side in told if side.share.has_moved),
        _begun(sides, far),
        worse,
        {way: move for way, move in drawn.items() if way not in excused},
        {side.way: side.share for side in sides},
        written.words and float(np.median(late.answers.count)) < measures.SHORTEST,
        _paid_for(late),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One relation as a share of the response."""

    way: Way
    values: Values
    share: Track
    drawn: Values  # how far it went in the worrying direction, as far as the amount behind it was lost too, by draw


def _sides(written: Written) -> list[_Side]:
    alike = measures.alike(written, written.answers)
    size = written.answers.count / max(float(written.answers.count[written.batch == 0].mean()), 1.0)
    values: dict[Way, tuple[Values, Values | None]] = {
        "looped": (measures.looped(written), None),
        "recurring": (measures.recurring(written), None),
        "alike": (alike, (1 - alike) * size),
        "empty": (measures.empty(written), None),
        "strange": (measures.strange(written), None),
    }
    if written.asks.any():
        (offered, by_chance), (copied, from_others) = measures.shared(written), measures.copied(written)
        taken_up = offered - by_chance
        values["detached"] = (taken_up, taken_up * size)
        values["copied"] = (copied - from_others, (1 - copied) * size)
    sides = list[_Side]()
    for way, (share, amount) in values.items():
        seen = track(written, share)
        if seen is None:
            continue
        column = 2 * len(sides)
        move = np.maximum(seen.drawn_move(column) * (-1 if way in FALLS else 1), 0.0)
        left = None if amount is None else track(written, amount)
        lost = move if left is None else np.minimum(move, np.maximum(-left.drawn_move(column + 1), 0.0))
        more = None  # how much is copied, against the length of the first responses; how alike they are beyond chance
        if way == "copied":
            # What is copied beside a response that is still there may be the question restated, or the answer hidden.
            # And a response that dropped its small talk copies a larger share of itself, but no more text.
            lost, more = np.maximum(lost, move / 2), track(written, share * size)
        elif way == "alike" and seen.now - seen.start > SECOND:
            more = track(written, alike - measures.alike_by_chance(written))
        if more is not None:
            lost = np.minimum(lost, np.maximum(more.drawn_move(column), 0.0))
        sides.append(_Side(way, share, seen, lost))
    return sides


def _paid_for(written: Written) -> float | None:
    """Return the correlation of length and score among the samples of one step, over all steps."""
    lengths = np.where(np.isfinite(written.scores), [float(len(own)) for own in written.own], np.nan)
    apart = [one - written.means(one)[written.batch] for one in (written.scores, lengths)]
    known = np.isfinite(apart[0])
    size = float(np.sqrt((apart[0][known] ** 2).sum() * (apart[1][known] ** 2).sum()))
    return float((apart[0][known] * apart[1][known]).sum() / size) if size > 1e-9 else None


def _begun(sides: Sequence[_Side], counted: dict[Way, float]) -> Begun:
    """Return when less than a tenth of the way from the first samples to now, or to what is plain, was last behind the
    responses, over all courses that it may have taken."""
    every = max(sides, key=lambda side: counted[side.way]).share.steps.astype(np.float64)
    total, share, error = 0.0, np.zeros(len(every)), np.zeros(len(every))
    for side in sides:
        seen, far = side.share, counted[side.way]
        move = seen.now - seen.start
        if far == 0 or move == 0:
            continue
        weight = far**2 / move  # the part of the distance that each unit of this measure stands for
        total += far**2
        share += weight * (np.interp(every, seen.steps, seen.values) - seen.start)
        error += (weight * np.interp(every, seen.steps, seen.errors)) ** 2
    weights, paths = np.ones(1), np.zeros((1, len(every)))
    if total > 0:
        weights, moves, _, _ = fitted(USUAL_MOVE * share / total, USUAL_MOVE * np.sqrt(error) / total)
        far = min(float(np.sqrt(total)), PLAIN) / float(np.sqrt(total))
        weights, paths = weights[1:] / weights[1:].sum(), moves[1:, None] * courses_of(len(every)) / (USUAL_MOVE * far)
    before = paths <= BEGUN
    last = paths.shape[1] - 1 - before[:, ::-1].argmax(axis=1)
    after = np.minimum(last + 1, paths.shape[1] - 1)
    rows = np.arange(len(paths))
    rise = paths[rows, after] - paths[rows, last]
    part = np.clip(np.divide(BEGUN - paths[rows, last], rise, out=np.zeros_like(rise), where=rise > 0), 0.0, 1.0)
    onset = every[last] + part * (every[after] - every[last])
    order = np.argsort(onset, kind="stable")
    behind = np.cumsum(weights[order])
    low, middle, high = onset[order][np.searchsorted(behind, [1 - LAST, 0.5, LAST]).clip(max=len(onset) - 1)]
    return Begun(round(float(middle)), round(float(low)), round(float(high)))


@dataclass(frozen=True, slots=True, eq=False)
class GamedEvidence:
    """All that samples and logged numbers say about the reward."""

    p: float  # of what the outcome says
    outcome: Outcome
    begun: Begun | None  # of what the outcome says
    moves: tuple[Move, ...]  # what moved: truncation, by which most is proven, then the furthest first
    relation: Relation | None
    text: Written | None  # all that was looked at
    numbers: Numbers

    @property
    def proven(self) -> bool:
        return self.outcome == "proven"

    @property
    def pair(self) -> tuple[Rollout, Rollout] | None:
        """Return of the samples before it began the one whose prompt is most like that of a late one that has gone far
        by the furthest move; among several such the one that had gone least. Both were paid for: a response that earned
        nothing shows nothing."""
        if self.begun is None or self.relation is None or not len(self.relation.worse):
            return None
        text, worse = self.relation.text, np.nan_to_num(self.relation.worse)
        third = max(len(text.steps) // 3, 1)
        steps = np.asarray([sample.step for sample in text.samples])
        early = _paid(text, (text.batch < max(third // 2, 1)) & (steps <= max(self.begun.step, steps.min()))).tolist()
        paid = _paid(text, text.batch >= len(text.steps) - third)
        late = paid[np.argsort(-worse[paid], kind="stable")][: max(round(WORST * len(paid)), 1)].tolist()
        asked = {place: {*text.prompts.ids[text.prompts.owner == place].tolist()} for place in (*early, *late)}
        best = (-1.0, 0.0, early[0], late[0])
        for new in late:
            for old in early:
                alike = len(asked[new] & asked[old]) / max(len(asked[new] | asked[old]), 1)
                best = max(best, (alike, -float(worse[old]), old, new))
            if best[0] == 1:
                break
        return text.samples[best[2]], text.samples[best[3]]


def _paid(text: Written, among: Flags) -> NDArray[np.int64]:
    """Return the samples that scored no worse than most of those."""
    places, scores = np.flatnonzero(among), text.scores[among]
    return places[scores >= np.nanmedian(scores)] if np.isfinite(scores).any() else places


def gather(run: Run, batches: Sequence[Batch], baseline: int | None = None) -> GamedEvidence:
    """Gather the evidence of a run as it stands, and of its samples by step. Everything is compared with what the run
    wrote at first, or from `baseline` on: other prompts get other responses, and a reader has found some right."""
    text = written(batches)
    alike = text
    if text is not None and baseline is not None:
        alike = since(text, int(np.searchsorted(text.steps, baseline)))
    related = None if alike is None or len(alike.steps) < 2 else relation(alike)
    logged = numbers(run, baseline)
    related_p = 0.0 if related is None else related.p_proven(truncated=logged.cut > 0.5)
    p = max(related_p, float(logged.cut > ALL_CUT))
    changed = 0.0 if related is None else float((related.distance > NEAR).mean())
    near = max(changed, float(logged.cut > TOLD), float(logged.unlike > 0.5))
    found = [Begun(step, step, step) for step in logged.begun]
    if related is not None and len(related.worse):
        found.insert(0, related.begun)
    moves = () if related is None else related.moves
    if logged.cut > TOLD:
        moves = (Move("cut", *logged.truncated), *moves)
    outcome: Outcome = "none" if text is not None else "blind"
    if p > SAID:
        outcome = "proven"
    elif near > 0.5:
        outcome = "changed"
    return GamedEvidence(
        {"proven": p, "changed": near}.get(outcome, 0.0),
        outcome,
        None if outcome in ("none", "blind") else min(found, key=lambda begun: begun.step, default=None),
        moves,
        related,
        text,
        logged,
    )
