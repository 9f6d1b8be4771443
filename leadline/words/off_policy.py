"""Sentences about samples that the present policy did not write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts.off_policy import DroppedReward, FewerEffectiveSamples, OlderSamples
from .numbers import number, percent


def effective_samples(facts: FewerEffectiveSamples) -> str:
    fell = (
        f"The effective sample size fell from {percent(facts.start)} to {percent(facts.now)} of the samples: few "
        "importance weights dominate each update."
    )
    if facts.gradient_scatter is None:
        return fell
    scatter = f"Gradient norms scatter {facts.gradient_scatter:.1f} times as much since then"
    return f"{fell} {scatter}, which often precedes a collapse."


def staleness(facts: OlderSamples) -> str:
    whose = "The oldest samples are" if facts.worst else "Samples are on average"
    return (
        f"{whose} {number(facts.now)} policy versions old, up from {number(facts.start)}: updates are increasingly "
        "off-policy."
    )


def dropped_reward(facts: DroppedReward) -> str:
    way = "less" if facts.dropped < facts.kept else "more"
    flatters = "flatters" if facts.dropped < facts.kept else "understates"
    return (
        f"Samples dropped before training earn {number(abs(facts.dropped - facts.kept))} {way} than those kept "
        f"({number(facts.dropped)} against {number(facts.kept)}): the reward of the kept ones {flatters} the policy."
    )


SENTENCES: dict[str, Callable[[Any], str]] = {
    "signal.effective_samples": effective_samples,
    "signal.staleness": staleness,
    "signal.dropped_reward": dropped_reward,
}
