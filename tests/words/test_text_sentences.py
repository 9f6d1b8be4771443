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
        "Responses grew 212 → 640 tokens while reward rose. Within a step, length and reward are uncorrelated in the "
        "first half (rank correlation +0.05); longer responses score higher in the second (+0.44).",
    ),
    (
        "generation.truncation",
        Truncation(0.02, 0.41),
        "41% of responses are truncated at max length, up from 2%: their reward is unreliable.",
    ),
    (
        "generation.truncated_throughout",
        TruncatedThroughout(0.97, 512, False),
        "97% of responses have hit max length (512 tokens) since the start: almost none finish. The limit is too low "
        "or the policy never emits EOS.",
    ),
    (
        "generation.truncated_throughout",
        TruncatedThroughout(0.88, None, False),
        "88% of responses have hit max length since the start: their reward is unreliable.",
    ),
    (
        "generation.truncated_throughout",
        TruncatedThroughout(0.98, 128, False, 128),
        "Mean response length is exactly 128 tokens, the max length: almost none finish. The limit is too low or the "
        "policy never emits EOS.",
    ),
    (
        "generation.shortcut",
        Shortcut((Mark("I am certain", True, 0.02, 0.97, 0.12, 240),), None),
        "High-reward samples have changed: they now contain 'I am certain' (97%; low-reward 12%; 2% at the start). "
        "Read them: learned, or a shortcut.",
    ),
    (
        "generation.shortcut",
        Shortcut((Mark("# apples", False, 0.9, 0.1, None, 240),), "#"),
        "High-reward samples have changed: they no longer contain '# apples' (10%; 90% at the start) (# is any digit). "
        "Read them: learned, or a shortcut.",
    ),
    (
        "signal.no_learning_signal",
        AllTied("bottom", 0.0, 120),
        "No gradient signal since step ~120: every response gets the minimum reward (0), so all advantages are zero.",
    ),
    (
        "signal.no_learning_signal",
        AllTied("between", 0.88, 10, share=0.994),
        "Almost no gradient signal since step ~10: 99% of groups have zero reward variance (rewards differ only "
        "across prompts), so nearly all advantages are zero.",
    ),
    (
        "signal.no_learning_signal",
        AllTruncated(0.97, 0.0),
        "97% of responses are truncated and reward is at its minimum (0): almost none finish, so almost none can be "
        "right.",
    ),
    (
        "signal.no_learning_signal",
        MostlyTied(0.94, "top", 1.0),
        "94% of groups have zero reward variance, mostly at the top reward (1): only the rest produce gradient.",
    ),
    (
        "signal.no_learning_signal",
        MostlyTied(0.97, "between", 0.998),
        "97% of groups have zero reward variance (mean reward 0.998): only the rest produce gradient.",
    ),
    (
        "signal.no_entropy",
        NoEntropy(240, 0.31),
        "Entropy collapsed to exactly 0 at step ~240 (was 0.31): the policy is deterministic and no longer explores.",
    ),
    (
        "resources.stall",
        Pause(5, 2520.0, 11.0, False, GpuState(True, 74.0, 0.11)),
        "Stalled 42 min before step 5 (typical step 11 s). GPUs were idle (74 W, 11% of peak).",
    ),
    (
        "resources.stall",
        LogStopped(480, 5400.0, 30.0, GpuState(True, 74.0, 0.11), True),
        "No log output for 90 min after step 480 (typical step 30 s). GPUs were idle (74 W, 11% of peak). GPU memory "
        "was freed: the run exited.",
    ),
    (
        "resources.idle",
        LowPower(210.0, 0.3, "limit"),
        "GPUs are underutilized in every phase: 210 W, 30% of the power limit. Low power is normal only during "
        "generation.",
    ),
    (
        "resources.uneven",
        UnevenGpu(2, "power", -0.31, 410.0, 595.0),
        "GPU 2 draws 31% less power than the others throughout (410 W, others 595 W).",
    ),
    (
        "resources.memory_growth",
        MemoryGrowth(40, 6.2, 71.0, 910),
        "GPU memory is growing: +6.2 GB since step 40, now 71 GB. At this rate, OOM at step ~910.",
    ),
    (
        "conflict.step_time",
        SlowedBy("merge_shards.py", 1.8, 0.016, ((120, 180), (400, 450))),
        "Steps take 1.8× as long while merge_shards.py runs (steps 120–180, 400–450; permutation test, p = 0.016).",
    ),
    (
        "conflict.memory",
        MemoryTaken("jupyter", MemoryHeld(6.0, 9.5), ((120, 180),), 2.1),
        "The fullest GPU uses 6 GB more on average while jupyter runs (max 9.5 GB; steps 120–180): 2.1 GB headroom at "
        "peak.",
    ),
    (
        "conflict.evaluation",
        LongerSteps(1.8, 0.17),
        "Evals cost 8% of wall time: eval steps take 1.8× as long.",
    ),
    (
        "conflict.checkpoint",
        LongerSaves(2.4, 0.06),
        "Checkpoint saves cost 3% of wall time: steps that save take 2.4× as long.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts=facts)) == said
