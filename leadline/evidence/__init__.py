"""Evidence of gamed rewards: witnesses that hold for any task, as typed facts without a sentence.

`gather(run, batches)` looks at the samples of a run by step (`reading.sampler.Batch`), at its logged numbers, and
returns one `GamedEvidence`. Everything is a relation within the run, against its own first samples and their scatter;
no task is known, no level of any metric decides. The same input gives the same evidence, bit for bit.

    evidence = gather(view.run, view.batches)
    evidence.p               probability that the reward is being gamed
    evidence.outcome         "gamed", "changed" (the answers changed in kind and the rise is that change: a person must
                             look), "decayed" (as gamed, but the reward fell with it), "none", or "blind"
    evidence.begun           when it began, as an interval: a tenth of the way was behind it; None where p is small
    evidence.worth(steps)    what a checkpoint is worth beside an honest one of the same reward, 0 to 1

What lies behind it: `relation` (how answers relate to prompt, to themselves and to each other), `kinds` (the old and
the new way of answering, what each earns, an example of either), `levels`, `noise`, `repeats` (of the scores and the
prompts), `prompts` (whether they changed: then only what followed is compared), `numbers` (truncation, surprise,
outages, knobs, filtered rewards, components), `blind` (what could not be seen, and why).

How the witnesses are weighed: they speak of the same decay, so their moves, each a share between 0 and 1, are one
distance; one logistic curve with two numbers turns it into a probability. Truncation, and answers that surprise the
reference twice as much as its own, come in with the weight at which each alone would leave it open. See `relation.py`
and docs/decisions/0033-gamed-rewards-are-weighed-over-all-steps.md; measured in `bench/gamed.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..questions.bars import EVEN, SAID, TENTH
from ..run import Run
from .asked import ChangedPrompts, changed_prompts
from .kinds import Kinds, kinds
from .numbers import COMPONENT, CUT, ENDED, Filtered, Knob, Numbers, Trade, calm, level, numbers, surprise
from .outage import REWARD, Outage, without_outages
from .relation import AS_LIKELY, STEEPNESS, Begun, Move, Relation, probability, relation
from .scores import LabelNoise, Levels, Repeats, ScoreLevel, label_noise, levels, repeats
from .written import Floats, Step, Written, since, written

__all__ = [
    "Begun",
    "ChangedPrompts",
    "Filtered",
    "GamedEvidence",
    "Kinds",
    "Knob",
    "LabelNoise",
    "Levels",
    "Move",
    "Numbers",
    "Outage",
    "Relation",
    "Repeats",
    "ScoreLevel",
    "Trade",
    "gather",
    "held_out_is_the_reward",
    "without_outages",
]

Outcome = Literal["gamed", "changed", "decayed", "none", "blind"]
Blind = Literal["no_text", "no_prompts", "no_scores", "held_out_is_the_reward", "one_component", "too_few_batches"]

CUT_EVEN = 0.7  # of the answers cut off: alone, as likely as not that the reward says little about them


@dataclass(frozen=True, slots=True, eq=False)
class GamedEvidence:
    """All that speaks for or against a gamed reward."""

    p: float
    outcome: Outcome
    begun: Begun | None
    relation: Relation | None
    kinds: Kinds | None
    levels: Levels | None
    noise: LabelNoise | None
    repeats: Repeats | None
    prompts: ChangedPrompts | None
    numbers: Numbers
    blind: tuple[Blind, ...]
    batches: int
    samples: int
    beside: float  # what the logged numbers add to the distance of the relations
    numbers_steps: Floats
    numbers_gone: Floats

    def worth(self, steps: Floats) -> Floats:
        """What a checkpoint is worth beside an honest one of the same reward: 1 before the move began; at the end 1
        less the probability that the reward is being gamed."""
        gone = np.interp(steps, self.numbers_steps, self.numbers_gone)
        if self.relation is not None and self.relation.moves:
            gone = np.maximum(gone, self.relation.gone(steps)) if gone.any() else self.relation.gone(steps)
        left: Floats = 1 - self.p * gone
        return left


def gather(run: Run, batches: Sequence[Step]) -> GamedEvidence:
    """The evidence of a run as it stands, and of its samples by step."""
    text = written(batches)
    prompts = None if text is None else changed_prompts(text)
    alike = text if text is None or prompts is None else since(text, prompts.batch)
    related = None if alike is None or alike.batches < 2 else relation(alike, run.get(REWARD))
    logged = numbers(run)
    beside = _beside(logged)
    p = probability(related, beside)
    changed = None if alike is None else kinds(alike)
    steps, gone = _numbers_way(run, logged) if beside > 0 else (np.zeros(1), np.zeros(1))
    begun = _begun(related, p, beside, steps, gone)
    return GamedEvidence(
        p,
        _outcome(run, p, changed, text),
        begun,
        related,
        changed,
        None if text is None else levels(text),
        None if text is None else label_noise(text),
        None if text is None else repeats(text),
        prompts,
        logged,
        _blind(run, text),
        0 if text is None else text.batches,
        0 if text is None else len(text),
        beside,
        steps,
        gone,
    )


def _beside(logged: Numbers) -> float:
    """What the numbers add to the distance. Answers that are cut off, and answers that surprise the reference twice as
    much as its own, leave the question open, each by itself. A format that the reference never used surprises
    it too, so that this says no more than `SAID`. That answers have grown to one length weighs nothing: it was seen in
    one family of runs only, and accused a sound training with a short length cap."""
    most = 1 + float(np.log(SAID / (1 - SAID))) / (STEEPNESS * AS_LIKELY)
    return AS_LIKELY * float(np.hypot(logged.cut / CUT_EVEN, min(logged.unlike, most)))


def _numbers_way(run: Run, logged: Numbers) -> tuple[Floats, Floats]:
    """By step, how much of the way of what says most lay behind the run."""
    found = surprise(run) if logged.unlike > logged.cut / CUT_EVEN else _cut_off(run)
    if found is None:
        return np.zeros(1), np.zeros(1)
    steps, values = found[0], calm(found[1])
    start, now = level(values, late=False), level(values, late=True)
    if start == now:
        return np.zeros(1), np.zeros(1)
    return steps, np.clip((values - start) / (now - start), 0.0, 1.0)


def _cut_off(run: Run) -> tuple[Floats, Floats] | None:
    series = next((found for name in (CUT, ENDED) if (found := run.get(name)) is not None and found.finite.any()), None)
    return None if series is None else (series.steps[series.finite].astype(np.float64), series.values[series.finite])


def _begun(related: Relation | None, p: float, beside: float, steps: Floats, gone: Floats) -> Begun | None:
    """When it began: with the answers or with the numbers, whichever moved first. Numbers that leave it open by
    themselves keep their date when the answers have followed."""
    if p < TENTH:
        return None
    below = np.flatnonzero(gone <= TENTH)
    step = int(steps[below[-1]]) if len(below) else int(steps[0])
    by_numbers = Begun(step, step, step)
    if related is None or not related.moves or probability(related) < TENTH:
        return by_numbers
    both = gone.any() and probability(None, beside) >= EVEN
    return min(by_numbers, related.begun, key=lambda begun: begun.step) if both else related.begun


def _outcome(run: Run, p: float, changed: Kinds | None, text: Written | None) -> Outcome:
    if p > EVEN:
        return "decayed" if _fell(run) else "gamed"
    if changed is not None and changed.apart >= SAID and (changed.explains or 0.0) >= EVEN:
        return "changed"
    return "blind" if text is None else "none"


def _fell(run: Run) -> bool:
    """Whether the reward stands below where it began."""
    reward = run.get(REWARD)
    return reward is not None and level(reward.values, late=True) < level(reward.values, late=False)


def _blind(run: Run, text: Written | None) -> tuple[Blind, ...]:
    found: list[Blind] = []
    if text is None:
        found.append("no_text")
    else:
        if text.batches < 2:
            found.append("too_few_batches")
        if not text.asks.any():
            found.append("no_prompts")
        if not np.isfinite(text.scores).any():
            found.append("no_scores")
    if held_out_is_the_reward(run):
        found.append("held_out_is_the_reward")
    if sum(COMPONENT.fullmatch(series.name) is not None for series in run.series) < 2:
        found.append("one_component")
    return tuple(found)


def held_out_is_the_reward(run: Run) -> bool:
    """A held-out score that keeps to the training reward all along: the same function on other prompts. What it cannot
    see, the reward cannot see either."""
    reward = run.get(REWARD)
    if reward is None or reward.finite.sum() < 2:
        return False
    steps, values = reward.steps[reward.finite], calm(reward.values[reward.finite])
    size = float(np.ptp(values))
    for series in run.series:
        if series.name.startswith("eval/") and "reward" in series.name and series.finite.sum() >= 3 and size > 0:
            beside = np.interp(series.steps[series.finite], steps, values)
            if float(np.median(np.abs(series.values[series.finite] - beside))) < TENTH * size:
                return True
    return False
