"""Findings for tests of what comes after the readers: real facts, so that their sentences are real ones."""

from __future__ import annotations

from leadline.facts import Evidence, Facts, Finding, Severity
from leadline.findings.conflict_process import SlowedBy
from leadline.findings.kl_drift import KlDrift
from leadline.findings.reward_fall import RewardFall

FACTS: dict[str, Facts] = {
    "kl.drift_without_benefit": KlDrift(since_step=10, before=0.1, now=0.4, noise=0.01, ever_gained=True),
    "reward.peaked": RewardFall(high=0.9, high_step=80, now=0.5, start=0.1, peaked=True, sudden_step=None),
}


def found(
    name: str,
    p: float = 0.9,
    severity: Severity = "concern",
    since: int | None = None,
    evidence: tuple[Evidence, ...] = (),
) -> Finding:
    """A finding by its id; one whose sentence no test asks for has no facts of its own."""
    return Finding(name, p, severity, FACTS.get(name, Facts()), since, evidence)


def quoting(text: str, severity: Severity = "concern", evidence: tuple[Evidence, ...] = ()) -> Finding:
    """A finding whose sentence quotes `text`, as it stands in a log: here the name of a process."""
    facts = SlowedBy(process=text, ratio=2.0, chance=0.01, spans=((1, 2),))
    return Finding("conflict.step_time", 0.9, severity, facts, 1, evidence)
