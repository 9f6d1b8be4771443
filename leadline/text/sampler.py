"""Samples that are looked at: early and late steps, high and low reward, whole groups; the same ones each time."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from hashlib import blake2b

from ..digits import exact_sum
from ..draws import spread
from ..records import dataclass
from ..run import Rollout, Rollouts

FILES = 48  # steps: enough for a curve, few enough to read within a second
EDGE = 4  # steps: the first and the last ones are always looked at
PROMPTS = 24  # samples a step, each of another prompt
GROUPS = 2  # whole groups a step
MEMBERS = 8  # samples a group
TELLING = 12  # samples: with fewer, chance may do it; neighboring steps are then read together


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of one step, as far as they are looked at."""

    step: int
    alone: tuple[Rollout, ...]  # one a prompt, spread over the rewards
    groups: tuple[tuple[Rollout, ...], ...]  # of one prompt each, spread over their mean rewards
    scored: int  # samples of the whole step with a reward
    mixed: int  # groups of the whole step in which rewards differ
    tied: int  # groups in which all rewards are equal
    mean: float  # reward of the whole step; NaN without any
    lowest: float
    highest: float

    @property
    def fingerprint(self) -> bytes:
        """The same for batches of the same samples."""
        told = [[(one.prompt, one.output, one.score, one.group) for one in some] for some in (self.alone, *self.groups)]
        whole = (self.step, told, self.scored, self.mixed, self.tied, self.mean, self.lowest, self.highest)
        return blake2b(pickle.dumps(whole)).digest()

    @property
    def samples(self) -> tuple[Rollout, ...]:
        """Everything looked at, each sample once."""
        seen = {id(one) for one in self.alone}
        return self.alone + tuple(one for group in self.groups for one in group if id(one) not in seen)


def look(rollouts: Rollouts) -> tuple[Batch, ...]:
    """Return the batches of at most FILES steps. A step whose samples hold no text is left out until one holds some: a
    dump may keep none, but a policy that wrote and writes nothing any more is a policy to look at."""
    batches = [
        batch for step in steps_to_read(rollouts.steps) if (batch := _batch(step, rollouts.at(step))) is not None
    ]
    first = next((place for place, batch in enumerate(batches) if any(one.output for one in batch.samples)), None)
    return () if first is None else tuple(batches[first:])


def steps_to_read(steps: Sequence[int]) -> list[int]:
    """Return at most FILES of these steps, the first and the last ones among them."""
    if len(steps) <= FILES:
        return list(steps)
    return [*steps[:EDGE], *spread(steps[EDGE:-EDGE], FILES - 2 * EDGE), *steps[-EDGE:]]


def _batch(step: int, rollouts: Sequence[Rollout]) -> Batch | None:
    read = [one for one in rollouts if all(isinstance(text, str) for text in (one.prompt, one.output))]  # or by hand
    if not read:
        return None
    members: dict[tuple[int, str], list[Rollout]] = {}
    for one in read:
        if one.group is not None:
            members.setdefault((one.group, one.prompt), []).append(one)
    groups = [group for group in members.values() if len(group) > 1]
    scores = [one.score for one in read if math.isfinite(one.score)]
    whole = [rewards for group in groups if all(map(math.isfinite, rewards := [one.score for one in group]))]
    tied = sum(max(rewards) == min(rewards) for rewards in whole)
    first: dict[str, Rollout] = {}
    for one in read:
        first.setdefault(one.prompt, one)
    apart = first.values() if len(first) > 1 else read  # the dump may keep no prompts
    chosen = spread(sorted(groups, key=lambda group: exact_sum(map(rank, group)) / len(group)), GROUPS)
    return Batch(
        step,
        tuple(spread(sorted(apart, key=rank), PROMPTS)),
        tuple(tuple(group[:MEMBERS]) for group in chosen),
        len(scores),
        len(whole) - tied,
        tied,
        exact_sum(scores) / len(scores) if scores else math.nan,
        min(scores, default=math.nan),
        max(scores, default=math.nan),
    )


def rank(one: Rollout) -> float:
    """Return the score to sort by: a sample without one stands below all others."""
    return one.score if math.isfinite(one.score) else -math.inf
