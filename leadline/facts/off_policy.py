"""What was seen of samples that the present policy did not write: their weight, their age, and which are dropped."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Facts


@dataclass(frozen=True, slots=True)
class FewerEffectiveSamples(Facts):
    """The importance weights concentrate on fewer samples."""

    start: float  # effective share of the samples
    now: float
    gradient_scatter: float | None  # of the gradient norm since, over before; None: not logged


@dataclass(frozen=True, slots=True)
class OlderSamples(Facts):
    """Samples come from older versions of the policy than before."""

    start: float  # versions
    now: float
    worst: bool  # of the oldest sample; else of the mean


@dataclass(frozen=True, slots=True)
class DroppedReward(Facts):
    """Samples that are dropped before training earn another reward than those that are kept."""

    dropped: float
    kept: float
