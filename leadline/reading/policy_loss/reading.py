"""What is said about the policy loss."""

from __future__ import annotations

from dataclasses import dataclass

from ...facts import Finding


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """What the logged policy loss is, and what it does."""

    informative: bool = False
    pattern: str = "undecided"
    why: str = "not read yet"
    findings: tuple[Finding, ...] = ()
