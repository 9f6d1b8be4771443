"""What the samples say: coherence, diversity, truncation, and whether reward is paid for something new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...facts import Evidence, Finding, Severity
from ...facts.generation import Incoherence, LessDiversity, Shortcut
from ...questions.bars import DOUBLED, EVEN, NOTICEABLE, SAID, SELDOM, TENTH, TWO
from ...questions.way import net_change
from ...run import Rollout
from ..gamed import evidence_of
from ..reward import HEADLINE
from ..sampler import Batch, joined
from ..view import View
from . import shortcut, truncation
from .coherence import repeating, strangeness
from .diversity import LOST, variety, within_prompts
from .measure import BASELINE, Levels, Measure
from .samples import early_and_late, shortened
from .text import DIGIT, Text, as_text

CHANGED = ("generation.coherence", "generation.diversity", "generation.shortcut")  # that the text is another


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A measure, how sure it is that it has moved far, and half as far."""

    measure: Measure
    far: float
    half: float
    since: int  # the last step before it had moved half as far for good
    start: float
    change: float  # a finding by itself

    @classmethod
    def of(cls, view: View, measure: Measure | None, start: float, change: float) -> Witness | None:
        if measure is None:
            return None
        view.keep(measure.series)
        far, half = measure.beyond(view, start + change, start + EVEN * change)
        return cls(measure, far, half, measure.since(start + EVEN * change), start, change)

    @property
    def told(self) -> tuple[float, bool]:
        """The level a sentence tells, and whether it is that of the last batch alone."""
        return self.measure.told(self.start + EVEN * self.change)

    def way(self, view: View) -> Levels:
        """How far it has come, in shares of the change that is a finding by itself."""
        return self.measure.levels(view).in_units_of(self.start, self.change)


def read_witnesses(view: View, batches: Sequence[Batch]) -> tuple[Finding, ...]:
    """The findings of the samples and of truncation. A witness that moved far is enough; so are two that together
    moved as far."""
    cut = truncation.witness(view)
    batches = joined(batches)
    if len(batches) < BASELINE + TWO:
        return (truncation.finding(cut, cut.far),) if cut is not None and cut.far >= SAID else ()
    text = as_text([[sample.output for sample in batch.samples] for batch in batches])
    steps = np.asarray([batch.step for batch in batches], dtype=np.int64)
    alone = np.concatenate([np.arange(len(batch.samples)) < len(batch.alone) for batch in batches])
    strange = Witness.of(view, strangeness(text, steps), NOTICEABLE, NOTICEABLE * (DOUBLED - 1))
    varied = Witness.of(view, variety(text, steps, alone), 1.0, -LOST)
    if strange is not None and strange.half > 0.5:
        strange = _less_what_prompts_explain(view, batches, strange)
    p_cut, p_strange, p_varied = _together(view, cut, strange, varied)
    found = []
    if cut is not None and p_cut >= SAID:
        found.append(truncation.finding(cut, p_cut))
    if strange is not None and p_strange >= SAID:
        found.append(_incoherent(batches, strange, p_strange))
    if varied is not None and max(p_varied, varied.half) >= SAID:
        found.append(_alike(batches, varied, p_varied))
    found += _same_within(view, batches)
    since = [
        witness.since for witness, p in ((strange, p_strange), (varied, p_varied)) if witness is not None and p >= 0.5
    ]
    lost = max(p_strange, p_varied)
    found += _shortcut(view, text, batches, lost, min(since, default=None))
    learns = _learns(view)
    return tuple(
        replace(finding, severity="note") if learns and finding.id in CHANGED else finding for finding in found
    )


def _learns(view: View) -> bool:
    """Whether the answers depend on their prompt more than at first, and nothing about them decays: then that the text
    changed is worth a note. A policy that learns writes other things."""
    evidence = evidence_of(view)
    return evidence.p < EVEN and evidence.relation is not None and evidence.relation.gained > TENTH


def _together(view: View, *witnesses: Witness | truncation.Cut | None) -> list[float]:
    """Each witness's probability by itself; or, where it is likelier than not half-way, with another: their shares of
    the way add up."""
    said = []
    for witness in witnesses:
        p = 0.0 if witness is None else witness.far
        if witness is not None and witness.half > 0.5:
            others = (other for other in witnesses if other is not None and other is not witness)
            p = max([p, *((witness.way(view) + other.way(view)).beyond(1.0, 1.0) for other in others)])
        said.append(p)
    return said


def _less_what_prompts_explain(view: View, batches: Sequence[Batch], strange: Witness) -> Witness:
    """New prompts ask for new words. Where the prompts grew stranger at the same time, by as much as would be a finding
    in the answers, the answers have to outdo them."""
    asked = strangeness(
        as_text([[sample.prompt for sample in batch.alone] for batch in batches]), strange.measure.steps
    )
    if asked is None:
        return strange
    after = asked.steps > strange.since
    before = ~after
    before[:BASELINE] = False  # by construction NOTICEABLE
    was = max(float(np.median(asked.values[before])), NOTICEABLE) if before.any() else NOTICEABLE
    grew = float(np.median(asked.values[after])) / was if after.any() else 1.0
    if grew < DOUBLED:
        return strange
    return Witness.of(view, strange.measure, NOTICEABLE, NOTICEABLE * (grew * DOUBLED - 1)) or strange


def _incoherent(batches: Sequence[Batch], strange: Witness, p: float) -> Finding:
    share, young = strange.told
    late = repeating([sample.output for batch in batches[-TWO:] for sample in batch.alone])
    early = repeating([sample.output for batch in batches[:BASELINE] for sample in batch.alone])
    facts = Incoherence(share, NOTICEABLE, young, late if late > max(2 * early, SELDOM) else None, early)
    return Finding(
        "generation.coherence",
        round(p, 4),
        "concern",
        facts=facts,
        since_step=strange.since,
        evidence=_evidence(batches),
    )


def _alike(batches: Sequence[Batch], varied: Witness, p: float) -> Finding:
    left, young = varied.told
    severity: Severity = "concern" if p >= SAID else "note"
    facts = LessDiversity("different_prompts", varied.start, left, young)
    p = p if p >= SAID else varied.half
    return Finding(
        "generation.diversity",
        round(p, 4),
        severity,
        facts=facts,
        since_step=varied.since,
        evidence=_evidence(batches),
    )


def _same_within(view: View, batches: Sequence[Batch]) -> tuple[Finding, ...]:
    """Answers to one prompt became one answer, and not the one that earns most: exploration has ended too early."""
    steps, shares = within_prompts(batches)
    if len(steps) < BASELINE + TWO or float(shares[:BASELINE].mean()) == 0:
        return ()
    bar = EVEN * float(shares[:BASELINE].mean())
    if np.median(shares[-TWO - 1 :]) > bar or at_the_top(batches):
        return ()
    measure = Measure("text/within_prompts", steps, shares, np.full(len(steps), np.inf))
    (p,) = measure.beyond(view, bar)
    if p < SAID:
        return ()
    facts = LessDiversity("one_prompt", measure.early, measure.late)
    evidence = Evidence("rollouts", int(steps[0]), int(steps[-1]), samples=_last_group(batches))
    since = measure.since(bar)
    return (Finding("generation.diversity", round(p, 4), "note", facts=facts, since_step=since, evidence=(evidence,)),)


def at_the_top(batches: Sequence[Batch]) -> bool:
    """Groups of the last batches mostly earn about the highest reward that any sample got."""
    scored = [batch for batch in batches if batch.scored]
    low, high = (
        min((batch.lowest for batch in scored), default=np.nan),
        max((batch.highest for batch in scored), default=np.nan),
    )
    groups = [group for batch in batches[-TWO - 1 :] for group in batch.groups]
    best = high - TENTH * (high - low)
    return sum(float(np.median([sample.score for sample in group])) >= best for group in groups) * 2 > len(groups)


def _last_group(batches: Sequence[Batch]) -> tuple[Rollout, ...]:
    return next((tuple(map(shortened, batch.groups[-1][:3])) for batch in reversed(batches) if batch.groups), ())


def _shortcut(
    view: View, text: Text, batches: Sequence[Batch], p_lost: float, since: int | None
) -> tuple[Finding, ...]:
    """Reward rose while the text was lost: it is paid for something else. Without a loss, what came in is only noted,
    since a right answer parts high from low reward as well."""
    marks = shortcut.marks(text, batches)
    reward = net_change(view.curve(HEADLINE))
    p_rose = 0.0 if reward is None else reward.rose
    p = p_lost * p_rose
    severity: Severity = "concern"
    text_left = p >= SAID
    if not text_left:
        if not marks or p_rose < SAID:
            return ()
        p, severity, since = p_rose, "note", min(mark.since for mark in marks)
    facts = Shortcut(text_left, marks, DIGIT if any(DIGIT in mark.phrase for mark in marks) else None)
    return (
        Finding(
            "generation.shortcut", round(p, 4), severity, facts=facts, since_step=since, evidence=_evidence(batches)
        ),
    )


def _evidence(batches: Sequence[Batch]) -> tuple[Evidence, ...]:
    return (Evidence("rollouts", batches[0].step, batches[-1].step, samples=early_and_late(batches)),)
