"""Read the samples for truncation, for groups that have become one response, and for what high reward now goes with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...facts import Evidence, Finding
from ...facts.generation import LessDiversity, Shortcut
from ...questions.bars import EVEN, SAID, TENTH, TWO
from ...questions.way import net_change
from ...run import Rollout
from ..reward import HEADLINE
from ..sampler import Batch, joined
from ..view import View
from . import shortcut, truncation
from .diversity import within_prompts
from .measure import BASELINE, Measure
from .samples import early_and_late, shortened
from .text import DIGIT, as_text


def read_witnesses(view: View, batches: Sequence[Batch]) -> tuple[Finding, ...]:
    """The findings of the samples and of truncation. Whether the text degenerates is asked in `reading/gamed.py`."""
    cut = truncation.witness(view)
    found = (truncation.finding(cut, cut.far),) if cut is not None and cut.far >= SAID else ()
    batches = joined(batches)
    if len(batches) < BASELINE + TWO:
        return found
    return (*found, *_same_within(view, batches), *_shortcut(view, batches))


def _same_within(view: View, batches: Sequence[Batch]) -> tuple[Finding, ...]:
    """Responses to one prompt became one response, and not the one that earns most: exploration has ended too early."""
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
    facts = LessDiversity(measure.early, measure.late)
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


def _shortcut(view: View, batches: Sequence[Batch]) -> tuple[Finding, ...]:
    """Name the phrases that high reward goes with now and did not at first, while the reward rose. A right answer parts
    high from low reward as well, so this is for a reader."""
    reward = net_change(view.curve(HEADLINE))
    if reward is None or reward.rose < SAID:
        return ()
    marks = shortcut.marks(as_text([[sample.output for sample in batch.samples] for batch in batches]), batches)
    if not marks:
        return ()
    facts = Shortcut(marks, DIGIT if any(DIGIT in mark.phrase for mark in marks) else None)
    evidence = (Evidence("rollouts", batches[0].step, batches[-1].step, samples=early_and_late(batches)),)
    p, since = round(reward.rose, 4), min(mark.since for mark in marks)
    return (Finding("generation.shortcut", p, "note", facts=facts, since_step=since, evidence=evidence),)
