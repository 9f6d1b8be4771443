"""What is printed about gamed rewards and what explains them: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts.finding import Facts, Finding, Move
from leadline.findings.reward_gamed import Gamed, ResponsesChanged, Reviewed
from leadline.findings.reward_outage import RewardOutage
from leadline.findings.signal_repeated_prompts import RepeatedPrompts
from leadline.run import Rollout

OLD, NEW = Rollout(1, "2+2=", "4", 0.0), Rollout(90, "2+2=", "44444", 1.0)
LOOPED = Move("looped", 0.04, 0.62)

SAID: list[tuple[str, Facts, str]] = [
    (
        "reward.gamed",
        Gamed(False, (LOOPED,), 6, 6, 205),
        "Reward hacking since step ~6 (6–205): responses loop (4% → 62% of text), yet the reward holds.",
    ),
    (
        "reward.gamed",
        Gamed(False, (LOOPED, Move("detached", 0.55, 0.1), Move("cut", 0.0, 0.4)), 180, 160, 210, OLD, NEW),
        "Reward hacking since step ~180 (160–210): responses loop (4% → 62% of text) and use less of the prompt (55% "
        "→ 10%), yet the reward holds.",
    ),
    (
        "generation.degraded",
        Gamed(True, (Move("alike", 0.1, 0.9), Move("cut", 0.3, 0.7)), 180, 180, 180),
        "Degenerate responses since step ~180: responses look alike across prompts (overlap 10% → 90%) and are "
        "truncated (30% → 70% of them). Reward dropped with them.",
    ),
    (
        "reward.gamed",
        Gamed(False, (Move("copied", 0.2, 0.9), Move("cut", 0.0, 0.5)), None, None, None),
        "Reward hacking, onset unknown: responses copy the prompt (20% → 90% of text) and are truncated (0% → 50% of "
        "them), yet the reward holds.",
    ),
    (
        "generation.changed",
        ResponsesChanged((Move("recurring", 0.02, 0.13),), 240, 230, 260, 0.88, 230, OLD, NEW),
        "Responses have changed since step ~240 (230–260): words recur more often (2% → 13% of text). 88% of the "
        "reward gain came since. Step 230 is the last one before it.",
    ),
    (
        "generation.changed",
        ResponsesChanged((Move("unlike", 1.0, 2.5),), 240, 240, 240, None, None),
        "Responses have changed since step ~240: they surprise the reference policy 2.5× as much as its own.",
    ),
    (
        "reward.reviewed",
        Reviewed("anna", 120, 400),
        "Reward hacking since step 120 according to anna: samples read up to step 400.",
    ),
    (
        "reward.reviewed",
        Reviewed("", None, 400),
        "Reward hacking according to a reviewer: samples read up to step 400.",
    ),
    (
        "reward.outage",
        RewardOutage(301, 309, 9, 0.0, True),
        "Reward function returned 0 for 9 steps (301–309), then recovered: rewards of these steps are excluded.",
    ),
    (
        "reward.outage",
        RewardOutage(301, 309, 9, 0.97, False, tools=True),
        "97% of tool calls failed for 9 steps (301–309) without recovering: check the tools. Rewards of these steps "
        "are excluded.",
    ),
    (
        "signal.repeated_prompts",
        RepeatedPrompts(512, 0.9, 0.41, 0.63),
        "90% of prompts are repeats (512 unique): repeats score 0.63, new prompts 0.41 at the same steps.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert Finding(name, 0.9, "note", facts=facts).say() == said
