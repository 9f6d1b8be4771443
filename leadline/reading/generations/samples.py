"""The samples shown with a finding: a handful, early beside late, high beside low reward, shortened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...run import Rollout
from ..sampler import Batch

BASELINE = 2  # batches: the run's own start
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
    ends = ([sample for batch in side for sample in batch.alone] for side in (batches[:BASELINE], batches[-BASELINE:]))
    ranked = (sorted(samples, key=lambda sample: len(sample.output)) for samples in ends)
    return tuple(shortened(sample) for samples in ranked for sample in samples[len(samples) // 2 :][:SHOWN])


def by_score(batches: Sequence[Batch]) -> list[Rollout]:
    """One sample a prompt, the highest reward first; samples without one come last."""
    samples = [sample for batch in batches for sample in batch.alone]
    return sorted(samples, key=lambda sample: -sample.score if math.isfinite(sample.score) else math.inf)


def shortened(sample: Rollout) -> Rollout:
    """What can be shown of a sample anywhere: bounded, valid text, control characters spelled out."""
    output = sample.output
    if len(output) > CHARACTERS:
        output = output[: CHARACTERS // 2] + MARK + output[-CHARACTERS // 2 :]
    prompt = sample.prompt if len(sample.prompt) <= PROMPT else MARK.lstrip() + sample.prompt[-PROMPT:]
    return replace(sample, output=_harmless(output), prompt=_harmless(prompt))


def _harmless(text: str) -> str:
    return text.encode("utf-8", "replace").decode().translate(CONTROLS)
