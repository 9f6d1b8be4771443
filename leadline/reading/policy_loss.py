"""The policy loss: first what the logged loss is, then what it does."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Finding
from .view import View


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """What the logged policy loss is, and what it does."""

    informative: bool = False
    pattern: str = "undecided"
    why: str = "not read yet"
    findings: tuple[Finding, ...] = ()


def read(view: View) -> PolicyLoss:
    """What the logged policy loss is, and what it does."""
    return PolicyLoss()
