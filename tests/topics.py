"""A topic of the reading as tests look at it: its section, and the findings beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leadline.facts.finding import Finding
from leadline.findings import found_in
from leadline.reading.machine import resources_of
from leadline.reading.processes import conflicts_of
from leadline.reading.view import View
from leadline.sections import kl_reward_of, policy_loss_of, reward_of


@dataclass(frozen=True)
class Topic:
    section: Any
    findings: tuple[Finding, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.section, name)


def findings(view: View, *prefixes: str) -> tuple[Finding, ...]:
    """The findings of a run whose id begins with one of these."""
    return tuple(found for found in found_in(view) if found.id.startswith(prefixes))


def read_kl(view: View) -> Topic:
    return Topic(kl_reward_of(view), findings(view, "kl.", "policy."))


def read_resources(view: View) -> Topic:
    return Topic(resources_of(view.whole), findings(view, "resources."))


def read_conflicts(view: View) -> Topic:
    return Topic(conflicts_of(view.whole), findings(view, "conflict.", "resources.eval", "resources.checkpoint"))


def read_loss(view: View) -> Topic:
    found = findings(view, "policy_loss.")
    return Topic(policy_loss_of(view, found), found)


def read_reward(view: View) -> Topic:
    return Topic(reward_of(view), findings(view, "reward.", "signal.train_eval_gap", "signal.nan"))
