"""What is printed about what a second reader saw: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts import Facts, Finding
from leadline.findings.reward_blind_parted import BlindParted
from leadline.run import Rollout
from leadline.words import sentence

OLD, NEW = Rollout(1, "2+2=", "4", 1.0), Rollout(90, "2+2=", "it is 4 or 5", 1.0)

SAID: list[tuple[str, Facts, str]] = [
    (
        "reward.blind_parted",
        BlindParted(0.92, 0.31, 160, 180, OLD, NEW),
        "Blind grades contradict the reward since step ~180: high-scoring responses are graded 0.31 of 1, down from "
        "0.92.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts=facts)) == said
