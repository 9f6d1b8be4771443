"""A finding: something seen in the run that means something, with the facts it consists of and where to check them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..run import Event, Rollout

Severity = Literal["note", "concern", "critical"]
# What findings are about, as a reader asks: what was gained, at what distance, by what text, from what signal.
TOPICS = (
    *("reward", "kl", "policy_loss", "generation", "signal", "agent", "stability", "resources", "conflict"),
    *("onset", "unexplained"),
)
NEEDS_EYES = "generation.changed"  # the finding that asks the reader to look at two samples
Meaning = Literal["gamed", "degraded", "no_signal", "lost"]  # what a finding means for going on (judgement/evidence.py)


class Guide(NamedTuple):
    """What docs/findings.md says of a finding."""

    means: str
    rests_on: str
    do: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a finding says, as named numbers, steps and series; the JSON holds them under the same names."""

    def say(self) -> str:
        """The sentence they make."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Mentioned(Event):
    """An event that was told before: a sentence names it and does not tell it again."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a finding can be checked: a signal over a span of steps, or the samples themselves."""

    signal: str  # canonical name, or "rollouts"
    first_step: int
    last_step: int
    text: str | None = None
    samples: tuple[Rollout, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something seen, with a stable id, how sure we are, its facts and its evidence."""

    id: str  # dotted and stable: "signal.train_eval_gap"
    p: float  # probability that it is true
    severity: Severity
    facts: Facts
    since_step: int | None = None
    evidence: tuple[Evidence, ...] = ()


def by_weight(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The most serious first, a question to the reader before all other notes; among equals the surest first, then by
    topic, then the one that began first."""
    weight = {"critical": 0, "concern": 1, "note": 2}

    def place(one: Finding) -> tuple[int, bool, float, int, float, str]:
        topic = one.id.partition(".")[0]
        order = TOPICS.index(topic) if topic in TOPICS else len(TOPICS)
        since = math.inf if one.since_step is None else one.since_step
        return weight[one.severity], one.id != NEEDS_EYES, -one.p, order, since, one.id

    return tuple(sorted(findings, key=place))
