"""What is printed about gamed rewards and what explains them: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts import Facts, Finding
from leadline.facts.gamed import (
    ChangedInKind,
    Gamed,
    LevelShare,
    Move,
    MovedKnob,
    NoisyLabels,
    RepeatedPrompts,
    RewardOutage,
    ScoreLevels,
)
from leadline.run import Rollout
from leadline.words import gamed, sentence

OLD, NEW = Rollout(1, "2+2=", "4", 0.0), Rollout(90, "2+2=", "44444", 1.0)

SAID: list[tuple[str, Facts, str]] = [
    (
        "reward.gamed",
        Gamed(False, (Move("looped", 0.04, 0.62),), 205, 6, 205),
        "The reward is probably being gamed since some step between 6 and 205: answers repeat themselves (62 % of the "
        "text, 4 % at first), and the score does not mind.",
    ),
    (
        "reward.gamed",
        Gamed(False, (Move("looped", 0.04, 0.62), Move("detached", 0.55, 0.1)), 180, 160, 210, OLD, NEW),
        "The reward is probably being gamed from about step 180 on (between 160 and 210): answers repeat "
        "themselves (62 % of the text, 4 % at first) and answers take up less of their prompt (55 % of "
        "it, now 10 %), and the score does not mind.",
    ),
    (
        "generation.changed_in_kind",
        ChangedInKind(0.02, 0.93, 0.88, 240, 230, OLD, NEW),
        "From about step 240 on the answers changed in kind (2 % to 93 % of the samples), and 88 % of the"
        " rise in reward is that change. If that is what you want, continue; if not, the last state "
        "before it is step 230.",
    ),
    (
        "reward.outage",
        RewardOutage(301, 309, 9, 0.0, True),
        "The reward function returned 0 for 9 steps (from step 301 to 309) and is back. These steps were left out.",
    ),
    (
        "reward.levels",
        ScoreLevels((LevelShare(0.0, 0.7, 0.1, OLD), LevelShare(1.0, 0.3, 0.9, NEW)), (1.0,)),
        "The score takes 2 values: 0 (70 % of the early samples, 10 % of the late ones) and 1 (30 % of "
        "the early samples, 90 % of the late ones).",
    ),
    (
        "reward.noisy_labels",
        NoisyLabels(120, 0.08, 0.92),
        "Equal answers are scored differently: about 8 % of the scores are wrong (120 pairs compared). A "
        "perfect policy would earn about 0.92.",
    ),
    (
        "signal.repeated_prompts",
        RepeatedPrompts(512, 0.9, 0.41, 0.63),
        "90 % of the prompts have been seen before (512 different ones): they score 0.63, new ones 0.41 "
        "at the same steps.",
    ),
    (
        "signal.knob_moved",
        MovedKnob("lr", 1e-5, 5e-6, False),
        "Learning rate changed from 1e-05 to 5e-06 on the way.",
    ),
    (
        "signal.knob_moved",
        MovedKnob("kl/coef", 0.001, 0.064, True),
        "KL coefficient changed from 0.001 to 0.064 on the way, and the reward has fallen since.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts=facts)) == said


def test_every_sentence_has_an_example() -> None:
    assert set(gamed.SENTENCES) == {name for name, _, _ in SAID}
