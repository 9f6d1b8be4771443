"""What is printed about answers in several turns and about samples of other policies: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts import Facts, Finding
from leadline.facts.agent import FailingTools, TurnsChange
from leadline.facts.off_policy import DroppedReward, FewerEffectiveSamples, OlderSamples
from leadline.words import sentence

SAID: list[tuple[str, Facts, str]] = [
    (
        "agent.turns",
        TurnsChange("turns", 3.1, 9.8, "unclear", 10.0),
        "Turns per answer grew from 3.1 to 9.8, of at most 10. The reward did not clearly change over the same steps. "
        "The policy may be looping.",
    ),
    (
        "agent.tool_calls",
        TurnsChange("tool_calls", 4.2, 0.6, "fell"),
        "Tool calls per answer fell from 4.2 to 0.6. The reward fell over the same steps. The policy may be giving up "
        "early.",
    ),
    (
        "agent.tool_failures",
        FailingTools(0.04, 0.31, "fell"),
        "31 % of the tool calls fail, up from 4 %. The reward fell over the same steps.",
    ),
    (
        "signal.effective_samples",
        FewerEffectiveSamples(0.82, 0.21, 2.6),
        "The effective sample size fell from 82 % to 21 % of the samples: few importance weights dominate each update. "
        "Gradient norms scatter 2.6 times as much since then, which often precedes a collapse.",
    ),
    (
        "signal.staleness",
        OlderSamples(1.2, 5.8, False),
        "Samples are on average 5.8 policy versions old, up from 1.2: updates are increasingly off-policy.",
    ),
    (
        "signal.dropped_reward",
        DroppedReward(0.18, 0.52),
        "Samples dropped before training earn 0.34 less than those kept (0.18 against 0.52): the reward of the kept "
        "ones flatters the policy.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_sentence_is_made_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts)) == said
