"""What looks odd and is normal here, and why. A new rule is a function and a line in the RULES of its module."""

from __future__ import annotations

from ...facts import Finding
from ...facts.expected import Expected
from ..view import View
from . import kl, logging, loss, reward
from .rule import Rule

__all__ = ["RULES", "Expected", "Rule", "read"]

RULES: tuple[Rule, ...] = (*loss.RULES, *kl.RULES, *reward.RULES, *logging.RULES)


def read(view: View, findings: tuple[Finding, ...] = ()) -> tuple[Expected, ...]:
    """Every odd value of this run that somebody would wonder about and that its configuration or kind explains. Beside
    a serious finding, what would be a sign of good learning is none."""
    serious = [finding.id for finding in findings if finding.severity != "note"]
    told = {finding.id for finding in findings}
    found: list[Expected] = []
    topics: set[str] = set()
    for rule in RULES:
        comfort = any(name.startswith(rule.unless) for name in serious if rule.unless)
        if comfort or rule.topic in topics or not told.isdisjoint(rule.told_by):
            continue
        facts = rule.look(view)
        if facts is not None:
            found.append(Expected(rule.id, facts))
            if rule.topic is not None:
                topics.add(rule.topic)
    return tuple(found)
