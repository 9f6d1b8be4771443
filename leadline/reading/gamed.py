"""Is the reward being gamed? The evidence of `leadline/evidence/` as findings, and what else the samples tell about the
score: its levels, its noise, its outages, prompts that repeat, knobs that moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..evidence import GamedEvidence, Outage, gather
from ..evidence.numbers import CUT, KL
from ..evidence.outage import FAILURES
from ..facts import Evidence, Facts, Finding, Severity
from ..facts.gamed import (
    Gamed,
    Move,
    RepeatedPrompts,
    ResponsesChanged,
    Reviewed,
    RewardOutage,
)
from ..questions.bars import CLEARLY, EVEN, NOTICEABLE, RARE, SAID, SELDOM
from ..questions.fall import fall_of
from ..questions.level import level_at, level_now, start_of
from ..questions.way import net_change
from ..run import Review, Rollout, Run, Series, Steps
from .prompts import changes_of_prompts
from .view import HEADLINE, View


def evidence_of(view: View) -> GamedEvidence:
    """Gather what samples and logged numbers say about the reward, once a reading. A reader's "ok" makes the text it
    covers the new baseline, and so do new prompts."""
    return view.once("gamed", lambda: _gathered(view))


def _gathered(view: View) -> GamedEvidence:
    """Gather it since the last baseline. New prompts do not undo what was proven before them and still stands."""
    read = _read_until(view)
    asked = [change.prompts for change in changes_of_prompts(view) if read is None or change.prompts.after > read]
    baselines = [read, *(prompts.after for prompts in asked)]
    latest = gather(view.run, view.batches, baselines[-1])
    if latest.proven:
        return latest
    for baseline, prompts in zip(baselines, asked, strict=False):
        earlier = [batch for batch in view.batches if batch.step <= prompts.before]
        before = gather(view.run.until(prompts.before), earlier, baseline)
        still = gather(view.run, view.batches, baseline) if before.proven else before
        if still.proven:
            return replace(still, begun=before.begun)
    return latest


def _read_until(view: View) -> int | None:
    """Return the last step that a reader found right."""
    review = _last_review(view)
    return review.seen_until if review is not None and review.answer == "ok" else None


def _last_review(view: View) -> Review | None:
    """Return the review that counts: of those who saw furthest the last one that was given."""
    ordered = sorted(view.run.reviews, key=lambda review: (review.seen_until, review.at))
    return ordered[-1] if ordered else None


def read(view: View) -> tuple[Finding, ...]:
    """What the evidence amounts to."""
    evidence = evidence_of(view)
    for way, track in () if evidence.relation is None else evidence.relation.tracks.items():
        view.keep(Series(f"text/{way}", f"text/{way}", "samples", track.steps, track.values))
    return (
        *_gamed(view, evidence),
        *_outages(view),
        *_score(view, evidence),
    )


def passing(run: Run, outages: tuple[Outage, ...]) -> tuple[Outage, ...]:
    """The outages that are over, or too young to be told from a fall: a reward that stays there has fallen."""
    length = (run.last_step or 0) - (run.first_step or 0)
    return tuple(gap for gap in outages if gap.back or gap.last - gap.first < NOTICEABLE * length)


def without_outages(run: Run, outages: tuple[Outage, ...]) -> Run:
    """The run without the rewards of steps at which nothing was scored: a missing value is no low one."""
    if not outages:
        return run

    def aside(steps: Steps) -> NDArray[np.bool_]:
        inside = [(steps >= gap.first) & (steps <= gap.last) for gap in outages]
        return np.asarray(np.any(inside, axis=0))

    def kept(name: str) -> bool:
        return not name.startswith("reward/")

    series = []
    for logged in run.series:
        out = np.zeros(logged.points, dtype=bool) if kept(logged.name) else aside(logged.steps)
        walls = None if logged.walls is None else logged.walls[~out]
        changed = (
            logged
            if not out.any()
            else replace(logged, steps=logged.steps[~out], values=logged.values[~out], walls=walls)
        )
        if changed.points:
            series.append(changed)
    return replace(run, series=tuple(series))


def _reward_fell(view: View, evidence: GamedEvidence) -> bool:
    """Whether the reward fell with the text: lower than at the start, and by more than its noise. Most of it lost to
    below its start has fallen whatever the samples scored; the change over the paths would not see a fall at once."""
    curve, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    change = net_change(curve)
    if evidence.outcome == "decayed" and (change is None or change.fell > EVEN):
        return True
    fall = fall_of(curve, logged) if curve is not None and logged is not None and curve.decidable else None
    return fall is not None and fall.p > SAID and fall.ruined and fall.now < fall.start


def _gamed(view: View, evidence: GamedEvidence) -> tuple[Finding, ...]:
    """The proof, or the change that needs a reader, or the reader's answer. A later word of a reader outranks ours."""
    reviewed = _reviewed(view)
    if reviewed or evidence.begun is None or evidence.outcome in ("none", "blind"):
        return reviewed
    shift, begun = evidence.shift, evidence.begun
    moves = () if shift is None else shift.moves
    clear = [move for move in moves if abs(move.now - move.start) > max(RARE, 2 * move.error)]
    found = tuple(Move(move.way, move.start, move.now, move.paid) for move in clear)
    if evidence.numbers.cut > SELDOM:
        found = (*found, Move("cut", 0.0, evidence.numbers.cut))
    dates = (begun.step, begun.low, begun.high)
    early, late = _pair(evidence)
    if evidence.outcome == "changed":
        if evidence.numbers.unlike > EVEN:
            found = (*found, Move("unlike", 1.0, 1 + evidence.numbers.unlike))
        changed = ResponsesChanged(
            found, *dates, _gain_since(view, begun.step), _last_before(view, begun.step), early, late
        )
        return (_finding(view, evidence, "generation.changed", round(evidence.p, 4), "note", changed),)
    facts = Gamed(_reward_fell(view, evidence), found, *dates, early, late)
    severity: Severity = "critical" if evidence.p > CLEARLY else "concern"
    return (_finding(view, evidence, "reward.gamed", round(evidence.p, 4), severity, facts),)


def _finding(view: View, evidence: GamedEvidence, name: str, p: float, severity: Severity, facts: Facts) -> Finding:
    since = None if evidence.begun is None else evidence.begun.step
    return Finding(name, p, severity, facts=facts, since_step=since, evidence=_shown(view, evidence))


def _reviewed(view: View) -> tuple[Finding, ...]:
    """Report a reader who found the reward hacked; a careful one is right nine times in ten. It ends with prompts that
    changed after what the reader saw."""
    review = _last_review(view)
    if review is None or review.answer != "hacked":
        return ()
    if any(change.prompts.after > review.seen_until for change in changes_of_prompts(view)):
        return ()
    facts = Reviewed(review.reader, review.since_step, review.seen_until)
    span = Evidence("rollouts", view.run.first_step or 0, review.seen_until)
    since = review.since_step if review.since_step is not None else view.run.first_step
    return (Finding("reward.reviewed", CLEARLY, "critical", facts=facts, since_step=since, evidence=(span,)),)


def _gain_since(view: View, step: int) -> float | None:
    """Share of the reward's rise that came after a step; None if it has not risen."""
    curve, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    change = net_change(curve)
    if curve is None or logged is None or change is None or change.rose < SAID:
        return None
    start, now = start_of(curve, logged), level_now(curve, logged)
    return float(np.clip((now - level_at(curve, logged, step)) / (now - start), 0.0, 1.0)) if now > start else None


def _pair(evidence: GamedEvidence) -> tuple[Rollout | None, Rollout | None]:
    """An early and a late response, as the relation that moved furthest shows them."""
    shift = evidence.shift
    return (None, None) if shift is None or shift.pair is None else shift.pair


def _last_before(view: View, step: int) -> int | None:
    before = [batch.step for batch in view.batches if batch.step < step]
    return before[-1] if before else None


def _shown(view: View, evidence: GamedEvidence) -> tuple[Evidence, ...]:
    if not view.batches:
        first, last = view.run.first_step or 0, view.run.last_step or 0
        named = ((CUT, evidence.numbers.cut > EVEN), (KL, evidence.numbers.unlike > EVEN))
        return tuple(Evidence(name, first, last) for name, told in named if told)
    samples = tuple(sample for sample in _pair(evidence) if sample is not None)
    return (Evidence("rollouts", view.batches[0].step, view.batches[-1].step, samples=samples),)


def _outages(view: View) -> tuple[Finding, ...]:
    found = []
    for gap in view.outages:
        facts = RewardOutage(gap.first, gap.last, gap.last - gap.first + 1, gap.value, gap.back, gap.tools)
        span = (Evidence(FAILURES if gap.tools else HEADLINE, gap.first, gap.last),)
        severity: Severity = "note" if gap.back else "concern"
        found.append(Finding("reward.outage", 0.95, severity, facts=facts, since_step=gap.first, evidence=span))
    return tuple(found)


def _score(view: View, evidence: GamedEvidence) -> tuple[Finding, ...]:
    """What the score is made of, and how far it can be trusted."""
    found: list[Finding] = []
    spans = (Evidence("rollouts", view.batches[0].step, view.batches[-1].step),) if view.batches else ()
    repeats = evidence.repeats
    if repeats is not None and repeats.again > EVEN and repeats.first_time is not None and repeats.later is not None:
        facts = RepeatedPrompts(repeats.different, repeats.again, repeats.first_time, repeats.later)
        found.append(Finding("signal.repeated_prompts", CLEARLY, "note", facts=facts, evidence=spans))
    return tuple(found)
