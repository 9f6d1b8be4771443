"""What is printed about answers, learning signal, machine and other processes: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts import Facts, Finding
from leadline.facts.conflict import MemoryHeld
from leadline.findings.conflict_evaluation import LongerSaves, LongerSteps
from leadline.findings.conflict_memory import MemoryTaken
from leadline.findings.conflict_step_time import SlowedBy
from leadline.findings.generation_length import LengthChange
from leadline.findings.generation_shortcut import Mark, Shortcut
from leadline.findings.generation_truncated_throughout import TruncatedThroughout
from leadline.findings.generation_truncation import Truncation
from leadline.findings.resources_idle import LowPower
from leadline.findings.resources_memory_growth import MemoryGrowth
from leadline.findings.resources_stall import GpuState, LogStopped, Pause
from leadline.findings.resources_uneven import UnevenGpu
from leadline.findings.signal_no_entropy import NoEntropy
from leadline.findings.signal_no_learning_signal import AllTied, AllTruncated, MostlyTied
from leadline.words import sentence

SAID: list[tuple[str, Facts, str]] = [
    (
        "generation.length",
        LengthChange(212.0, 640.0, "tokens", None, "rose", 0.05, 0.44),
        "Answers grew from 212 to 640 tokens. The reward rose over the same steps. Among samples of the "
        "same step length and reward are unrelated in the first half (rank correlation +0.05) and longer "
        "answers score higher in the second (+0.44).",
    ),
    (
        "generation.truncation",
        Truncation(0.02, 0.41),
        "41 % of the answers are cut off at the length cap, up from 2 %. Truncated answers never finish, "
        "so their reward says little.",
    ),
    (
        "generation.truncated_throughout",
        TruncatedThroughout(0.97, 512, False),
        "97 % of the answers are cut off at the length cap of 512 tokens, and have been from the start. Almost no "
        "answer finishes: either the cap is too low or the answers never end.",
    ),
    (
        "generation.truncated_throughout",
        TruncatedThroughout(0.88, None, False),
        "88 % of the answers are cut off at the length cap, and have been from the start. Truncated answers never "
        "finish, so their reward says little.",
    ),
    (
        "generation.truncated_throughout",
        TruncatedThroughout(0.98, 128, False, 128),
        "Answers are exactly 128 tokens long on average, the length cap: they are cut off there. Almost no answer "
        "finishes: either the cap is too low or the answers never end.",
    ),
    (
        "generation.shortcut",
        Shortcut((Mark("I am certain", True, 0.02, 0.97, 0.12, 240),), None),
        "High-reward samples now contain 'I am certain' (97 %, 12 % of low-reward ones; 2 % at the start): learned "
        "behavior or a shortcut. Check the samples.",
    ),
    (
        "generation.shortcut",
        Shortcut((Mark("# apples", False, 0.9, 0.1, None, 240),), "#"),
        "High-reward samples no longer contain '# apples' (10 %; 90 % at the start) (# is any digit): learned behavior "
        "or a shortcut. Check the samples.",
    ),
    (
        "signal.no_learning_signal",
        AllTied("bottom", 0.0, 120),
        "No learning signal: since about step 120 every answer gets the lowest reward seen, 0. Every "
        "advantage is zero.",
    ),
    (
        "signal.no_learning_signal",
        AllTied("between", 0.88, 10, share=0.994),
        "No learning signal: since about step 10 rewards differ between prompts but not within a group, in 99 % of the "
        "groups. Nearly every advantage is zero.",
    ),
    (
        "signal.no_learning_signal",
        AllTruncated(0.97, 0.0),
        "97 % of the answers are cut off at the length cap and the reward is 0, the lowest seen: almost "
        "no answer finishes, so almost none can be right.",
    ),
    (
        "signal.no_learning_signal",
        MostlyTied(0.94, "top", 1.0),
        "94 % of the groups are tied, mostly at the highest reward seen, 1; only the other groups teach anything.",
    ),
    (
        "signal.no_learning_signal",
        MostlyTied(0.97, "between", 0.998),
        "97 % of the groups are tied, where the mean reward is 0.998; only the other groups teach anything.",
    ),
    (
        "signal.no_entropy",
        NoEntropy(240, 0.31),
        "Entropy is exactly 0 since about step 240 (it was 0.31 before): the policy gives the same answer to a prompt "
        "every time, so it explores nothing.",
    ),
    (
        "resources.stall",
        Pause(5, 2520.0, 11.0, False, GpuState(True, 74.0, 0.11)),
        "42 min pause before step 5 (a step usually takes 11 s). The GPUs were idle meanwhile (74 W, 11 %"
        " of their peak).",
    ),
    (
        "resources.stall",
        LogStopped(480, 5400.0, 30.0, GpuState(True, 74.0, 0.11), True),
        "Nothing was logged for 90 min after step 480 (a step usually takes 30 s). The GPUs were idle "
        "meanwhile (74 W, 11 % of their peak). GPU memory was released: the run has ended.",
    ),
    (
        "resources.idle",
        LowPower(210.0, 0.3, "limit"),
        "GPU power is low in every phase: 210 W, 30 % of the power limit. Low power in generation alone "
        "would be normal; here the GPUs are waiting.",
    ),
    (
        "resources.uneven",
        UnevenGpu(2, "power", -0.31, 410.0, 595.0),
        "GPU 2 draws 31 % less than the others throughout (410 against 595 W).",
    ),
    (
        "resources.memory_growth",
        MemoryGrowth(40, 6.2, 71.0, 910),
        "GPU memory keeps growing: up 6.2 GB since step 40, now at 71 GB. At this pace it is full at about step 910.",
    ),
    (
        "conflict.step_time",
        SlowedBy("merge_shards.py", 1.8, 0.016, ((120, 180), (400, 450))),
        "Steps take 1.80 times as long while merge_shards.py runs (steps 120 to 180, 400 to 450; "
        "permutation test p = .016).",
    ),
    (
        "conflict.memory",
        MemoryTaken("jupyter", MemoryHeld(6.0, 9.5), ((120, 180),), 2.1),
        "The fullest GPU holds 6 GB more on average, 9.5 GB at most while jupyter runs (steps 120 to "
        "180); 2.1 GB are free at the peak.",
    ),
    (
        "conflict.evaluation",
        LongerSteps(1.8, 0.17),
        "Steps that also evaluate take 1.80 times as long, which costs 8 % of the time.",
    ),
    (
        "conflict.checkpoint",
        LongerSaves(2.4, 0.06),
        "Steps that also save a checkpoint take 2.40 times as long, which costs 3 % of the time.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts=facts)) == said
