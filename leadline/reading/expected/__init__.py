"""What looks odd and is normal here, and why. A new rule is a function and a line in the RULES of its module."""

from __future__ import annotations

from ..view import View
from . import kl, logging, loss, reward
from .rule import Expected, Rule

__all__ = ["RULES", "Expected", "Rule", "read"]

RULES: tuple[Rule, ...] = (*loss.RULES, *kl.RULES, *reward.RULES, *logging.RULES)


def read(view: View) -> tuple[Expected, ...]:
    """Every odd value of this run that its configuration or kind explains."""
    seen = ((rule, rule.look(view)) for rule in RULES)
    return tuple(Expected(rule.id, *said) for rule, said in seen if said is not None)
