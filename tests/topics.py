"""A topic of the reading as tests look at it: its section, and the findings beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leadline.facts import Finding
from leadline.findings import found_in
from leadline.reading.reward import unreadable
from leadline.reading.view import View
from leadline.sections import kl_reward, reward


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
    return Topic(kl_reward.read(view), findings(view, "kl."))


def read_reward(view: View) -> Topic:
    return Topic(reward.read(view), (*unreadable(view), *findings(view, "reward.", "signal.train_eval_gap")))
