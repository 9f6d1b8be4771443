"""Which samples are looked at: early and late steps, high and low reward, whole groups; the same ones each time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..digits import exact_sum
from ..evidence.written import joined as neighbours
from ..run import Rollout, Samples

FILES = 48  # steps: enough for a curve, few enough to read within a second
EDGE = 4  # steps: the first and the last ones are always looked at
PROMPTS = 24  # samples a step, each of another prompt
GROUPS = 2  # whole groups a step
MEMBERS = 8  # samples a group

One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step wrote, as far as it is looked at."""

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
    def samples(self) -> tuple[Rollout, ...]:
        """Everything looked at, each sample once."""
        seen = {id(one) for one in self.alone}
        return self.alone + tuple(one for group in self.groups for one in group if id(one) not in seen)


def look(rollouts: Samples) -> tuple[Batch, ...]:
    """The batches of at most FILES steps. A step whose samples hold no text is left out until one holds some: a dump
    may keep none, but a policy that wrote and writes nothing any more is a policy to look at."""
    batches = [
        batch for step in steps_to_read(rollouts.steps) if (batch := _batch(step, rollouts.at(step))) is not None
    ]
    first = next((place for place, batch in enumerate(batches) if any(one.output for one in batch.samples)), None)
    return () if first is None else tuple(batches[first:])


def joined(batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """Neighbours put together until each batch holds enough samples to have a level and an error of its own."""
    return tuple(one[0] if len(one) == 1 else _as_one(one) for one in neighbours(batches))


def _as_one(batches: Sequence[Batch]) -> Batch:
    scored = [batch for batch in batches if batch.scored]
    count = sum(batch.scored for batch in scored)
    return Batch(
        batches[-1].step,
        tuple(one for batch in batches for one in batch.alone),
        tuple(group for batch in batches for group in batch.groups),
        count,
        sum(batch.mixed for batch in batches),
        sum(batch.tied for batch in batches),
        exact_sum(batch.mean * batch.scored for batch in scored) / count if count else math.nan,
        min((batch.lowest for batch in scored), default=math.nan),
        max((batch.highest for batch in scored), default=math.nan),
    )


def spread(items: Sequence[One], most: int) -> list[One]:
    """At most `most` of them at even distances, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def steps_to_read(steps: Sequence[int]) -> list[int]:
    """At most FILES of these steps, the first and the last ones among them."""
    if len(steps) <= FILES:
        return list(steps)
    return [*steps[:EDGE], *spread(steps[EDGE:-EDGE], FILES - 2 * EDGE), *steps[-EDGE:]]


def _batch(step: int, rollouts: Sequence[Rollout]) -> Batch | None:
    read = [one for one in rollouts if _is_text(one.output) and _is_text(one.prompt)]
    if not read:
        return None
    groups = _groups(read)
    scores = [one.score for one in read if math.isfinite(one.score)]
    ties = [_tied(group) for group in groups]
    chosen = spread(sorted(groups, key=_mean_score), GROUPS)
    return Batch(
        step,
        tuple(spread(sorted(_one_a_prompt(read), key=_rank), PROMPTS)),
        tuple(tuple(group[:MEMBERS]) for group in chosen),
        len(scores),
        ties.count(False),
        ties.count(True),
        exact_sum(scores) / len(scores) if scores else math.nan,
        min(scores, default=math.nan),
        max(scores, default=math.nan),
    )


def _is_text(value: object) -> bool:
    """A run made by hand may hold anything."""
    return isinstance(value, str)


def _groups(rollouts: Sequence[Rollout]) -> list[list[Rollout]]:
    """Samples of one prompt, where there are several."""
    members: dict[tuple[int, str], list[Rollout]] = {}
    for one in rollouts:
        if one.group is not None:
            members.setdefault((one.group, one.prompt), []).append(one)
    return [group for group in members.values() if len(group) > 1]


def _one_a_prompt(rollouts: Sequence[Rollout]) -> list[Rollout]:
    """The first sample of each prompt; all of them where the dump keeps no prompts."""
    first: dict[str, Rollout] = {}
    for one in rollouts:
        first.setdefault(one.prompt, one)
    return list(first.values()) if len(first) > 1 else list(rollouts)


def _tied(group: Sequence[Rollout]) -> bool | None:
    scores = [one.score for one in group]
    if not all(map(math.isfinite, scores)):
        return None
    return max(scores) == min(scores)


def _rank(one: Rollout) -> float:
    return one.score if math.isfinite(one.score) else -math.inf


def _mean_score(group: Sequence[Rollout]) -> float:
    return exact_sum(_rank(one) for one in group) / len(group)
