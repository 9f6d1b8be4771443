"""Is the reward being gamed? The evidence of `leadline/evidence/` as findings, and what else the samples tell about the
score: its levels, its noise, its outages, prompts that repeat, knobs that moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..evidence import GamedEvidence, Outage, gather
from ..evidence.numbers import CUT, KL
from ..evidence.scores import MOST_LEVELS
from ..facts import Evidence, Finding, Severity
from ..facts.gamed import (
    ChangedInKind,
    Gamed,
    LevelShare,
    Move,
    MovedKnob,
    NoisyLabels,
    RepeatedPrompts,
    RewardOutage,
    ScoreLevels,
)
from ..questions.bars import CLEARLY, EVEN, NOTICEABLE, RARE, SAID
from ..questions.fall import fall_of, p_fallen
from ..questions.way import net_change
from ..run import Rollout, Run, Steps
from .view import HEADLINE, View

_NOTE: Severity = "note"
_CONCERN: Severity = "concern"
FEW_LEVELS = MOST_LEVELS // 2  # values of a score: more are a scale, not a sum of parts


def evidence_of(view: View) -> GamedEvidence:
    """All that speaks for or against a gamed reward; gathered once a look."""
    return view.once("gamed", lambda: gather(view.run, view.batches))


def read(view: View) -> tuple[Finding, ...]:
    """What the evidence amounts to."""
    evidence = evidence_of(view)
    return (
        *_gamed(view, evidence),
        *_outages(view),
        *_score(view, evidence),
        *_knobs(view, evidence),
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
    begun, kinds = evidence.begun, evidence.kinds
    if evidence.outcome in ("gamed", "decayed"):
        moves = () if evidence.relation is None else evidence.relation.moves
        clear = [move for move in moves if abs(move.now - move.start) > max(RARE, 2 * move.error)]
        found = [Move(move.way, move.start, move.now, move.paid) for move in clear]
        if evidence.numbers.cut > EVEN:
            found.append(Move("cut", 0.0, evidence.numbers.cut))
        if evidence.numbers.unlike > EVEN:
            found.append(Move("unlike", 1.0, 1 + evidence.numbers.unlike))
        facts = Gamed(
            _reward_fell(view, evidence),
            tuple(found),
            None if begun is None else begun.step,
            None if begun is None else begun.low,
            None if begun is None else begun.high,
            *(_pair(evidence) or (None, None)),
        )
        severity: Severity = "critical" if evidence.p > CLEARLY else "concern"
        since = None if begun is None else begun.step
        return (
            Finding(
                "reward.gamed",
                round(evidence.p, 4),
                severity,
                facts=facts,
                since_step=since,
                evidence=_shown(view, evidence),
            ),
        )
    if evidence.outcome == "changed" and kinds is not None:
        last = _last_before(view, None if begun is None else begun.step)
        changed = ChangedInKind(
            float(kinds.shares[0]),
            float(kinds.shares[-1]),
            kinds.explains,
            None if begun is None else begun.step,
            last,
            kinds.old,
            kinds.new,
        )
        since = None if begun is None else begun.step
        return (
            Finding(
                "generation.changed_in_kind",
                round(kinds.apart, 4),
                "concern",
                facts=changed,
                since_step=since,
                evidence=_shown(view, evidence),
            ),
        )
    return ()


def _pair(evidence: GamedEvidence) -> tuple[Rollout, Rollout] | None:
    """An early and a late answer: as the relation that moved shows them, else as the two ways of answering do."""
    if evidence.outcome != "changed" and evidence.relation is not None and evidence.relation.pair is not None:
        return evidence.relation.pair
    return None if evidence.kinds is None else (evidence.kinds.old, evidence.kinds.new)


def _last_before(view: View, step: int | None) -> int | None:
    before = [batch.step for batch in view.batches if step is None or batch.step < step]
    return before[-1] if before and step is not None else None


def _shown(view: View, evidence: GamedEvidence) -> tuple[Evidence, ...]:
    if not view.batches:
        first, last = view.run.first_step or 0, view.run.last_step or 0
        named = ((CUT, evidence.numbers.cut > EVEN), (KL, evidence.numbers.unlike > EVEN))
        return tuple(Evidence(name, first, last) for name, told in named if told)
    samples = _pair(evidence) or ()
    return (Evidence("rollouts", view.batches[0].step, view.batches[-1].step, samples=samples),)


def _outages(view: View) -> tuple[Finding, ...]:
    found = []
    for gap in view.outages:
        facts = RewardOutage(gap.first, gap.last, gap.last - gap.first + 1, gap.value, gap.back)
        span = (Evidence(HEADLINE, gap.first, gap.last),)
        severity: Severity = "note" if gap.back else "concern"
        found.append(Finding("reward.outage", 0.95, severity, facts=facts, since_step=gap.first, evidence=span))
    return tuple(found)


def _score(view: View, evidence: GamedEvidence) -> tuple[Finding, ...]:
    """What the score is made of, and how far it can be trusted."""
    found: list[Finding] = []
    spans = (Evidence("rollouts", view.batches[0].step, view.batches[-1].step),) if view.batches else ()
    levels = evidence.levels
    if levels is not None and 2 < len(levels.levels) <= FEW_LEVELS:
        shares = tuple(LevelShare(level.value, level.early, level.late, level.example) for level in levels.levels)
        found.append(Finding("reward.levels", CLEARLY, "note", facts=ScoreLevels(shares, levels.parts), evidence=spans))
    noise = evidence.noise
    if noise is not None and noise.rate > NOTICEABLE:
        found.append(
            Finding(
                "reward.noisy_labels",
                CLEARLY,
                "note",
                facts=NoisyLabels(noise.pairs, noise.rate, noise.ceiling),
                evidence=spans,
            )
        )
    repeats = evidence.repeats
    if repeats is not None and repeats.again > EVEN and repeats.first_time is not None and repeats.later is not None:
        facts = RepeatedPrompts(repeats.different, repeats.again, repeats.first_time, repeats.later)
        found.append(Finding("signal.repeated_prompts", CLEARLY, "note", facts=facts, evidence=spans))
    return tuple(found)


def _knobs(view: View, evidence: GamedEvidence) -> tuple[Finding, ...]:
    """Settings that moved; where the reward fell after one of them, the cause may stand in the log."""
    found = []
    reward, curve = view.run.get(HEADLINE), view.curve(HEADLINE)
    fall = fall_of(curve, reward) if reward is not None and curve is not None and p_fallen(curve) > SAID else None
    for knob in evidence.numbers.knobs:
        if knob.name == "lr":
            continue  # a schedule: its steps are events of their own
        series = view.run.get(knob.name)
        last = view.run.last_step or knob.since
        spans = (Evidence(knob.name if series is None else series.name, knob.since, last),)
        fell = fall is not None and fall.since_step >= knob.since
        facts = MovedKnob(knob.name, knob.start, knob.now, fell)
        p, severity = (round(fall.p, 4), _CONCERN) if fall is not None and fell else (CLEARLY, _NOTE)
        found.append(Finding("signal.knob_moved", p, severity, facts=facts, since_step=knob.since, evidence=spans))
    return tuple(found)
