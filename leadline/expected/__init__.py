"""What looks odd and is normal here, and why. A rule is one function: when it applies, what it consists of, what it
says; a new one is a function and a line in the RULES of its module."""

from __future__ import annotations

from ..facts import Finding
from ..facts.expected import Expected
from ..reading.view import View
from . import kl, logging, loss, reward
from .rule import Rule

RULES: tuple[Rule, ...] = (*loss.RULES, *kl.RULES, *reward.RULES, *logging.RULES)


def read(view: View, findings: tuple[Finding, ...] = ()) -> tuple[Expected, ...]:
    """Every odd value of this run that somebody would wonder about and that its configuration or kind explains. Beside
    a serious finding, what would be a sign of good learning is none."""
    serious = [finding.id for finding in findings if finding.severity != "note"]
    told = {finding.id for finding in findings}
    found = (
        rule.look(view)
        for rule in RULES
        if told.isdisjoint(rule.told_by) and not any(name.startswith(rule.unless) for name in serious)
    )
    return tuple(expected for expected in found if expected is not None)
