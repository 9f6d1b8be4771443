"""The samples shown with a finding: a handful, early beside late, high beside low reward, shortened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...run import Rollout
from ..sampler import Batch
from .measure import BASELINE

SHOWN = 2  # samples of each kind
CHARACTERS = 240  # of an output, from both ends of a longer one
PROMPT = 160  # characters of a prompt, its end
MARK = " [...] "
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def early_and_late(batches: Sequence[Batch]) -> tuple[Rollout, ...]:
    """High-reward samples of the first and of the last batches, and the lowest of the last."""
    early, late = by_score(batches[:BASELINE]), by_score(batches[-BASELINE:])
    return tuple(map(shortened, (*early[:SHOWN], *late[:SHOWN], *late[SHOWN:][-1:])))


def middling(batches: Sequence[Batch]) -> tuple[Rollout, ...]:
    """Samples of middling length, early and late."""
    early = sorted((one for batch in batches[:BASELINE] for one in batch.alone), key=lambda one: len(one.output))
    late = sorted((one for batch in batches[-BASELINE:] for one in batch.alone), key=lambda one: len(one.output))
    middle = [half for ranked in (early, late) for half in ranked[len(ranked) // 2 :][:SHOWN]]
    return tuple(map(shortened, middle))


def by_score(batches: Sequence[Batch]) -> list[Rollout]:
    """One sample a prompt, the highest reward first; samples without one come last."""
    samples = [one for batch in batches for one in batch.alone]
    return sorted(samples, key=lambda one: -one.score if math.isfinite(one.score) else math.inf)


def shortened(one: Rollout) -> Rollout:
    """What can be shown of a sample anywhere: bounded, valid text, control characters spelled out."""
    output = one.output
    if len(output) > CHARACTERS:
        output = output[: CHARACTERS // 2] + MARK + output[-CHARACTERS // 2 :]
    prompt = one.prompt if len(one.prompt) <= PROMPT else MARK.lstrip() + one.prompt[-PROMPT:]
    return replace(one, output=_harmless(output), prompt=_harmless(prompt))


def _harmless(text: str) -> str:
    return text.encode("utf-8", "replace").decode().translate(CONTROLS)
