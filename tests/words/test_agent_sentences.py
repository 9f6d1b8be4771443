"""What is printed about answers in several turns: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts.finding import Facts, Finding
from leadline.findings.agent_turns import FailingTools, TurnsChange

SAID: list[tuple[str, Facts, str]] = [
    (
        "agent.turns",
        TurnsChange("turns", 3.1, 9.8, "unclear"),
        "Turns per response grew 3.10 → 9.80 with no clear change in reward: the policy may be looping.",
    ),
    (
        "agent.tool_calls",
        TurnsChange("tool_calls", 4.2, 0.6, "fell"),
        "Tool calls per response shrank 4.20 → 0.60 while reward dropped: the policy may be giving up early.",
    ),
    (
        "agent.tool_failures",
        FailingTools(0.04, 0.31, "fell"),
        "31% of tool calls fail, up from 4%, while reward dropped.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_sentence_is_made_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert Finding(name, 0.9, "note", facts).say() == said
