"""What is printed about answers, learning signal, machine and other processes: each sentence from its facts."""

from __future__ import annotations

import pytest

from leadline.facts.finding import Facts, Finding
from leadline.facts.machine import MemoryHeld
from leadline.findings.conflict_process import MemoryTaken, SlowedBy
from leadline.findings.generation_length import LengthChange
from leadline.findings.generation_shortcut import Mark, Shortcut
from leadline.findings.generation_truncation import Truncation
from leadline.findings.resources_idle import LowPower
from leadline.findings.resources_memory_growth import MemoryGrowth
from leadline.findings.resources_overhead import LongerSaves, LongerSteps
from leadline.findings.resources_stall import GpuState, LogStopped, Pause
from leadline.findings.signal_no_learning_signal import AllTied, AllTruncated, MostlyTied

SAID: list[tuple[str, Facts, str]] = [
    (
        "generation.length",
        LengthChange(212.0, 640.0, "tokens", None, "rose", 0.44),
        "Responses grew 212 → 640 tokens while reward rose. Within a step, longer responses score higher (correlation "
        "+0.44).",
    ),
    (
        "generation.truncation",
        Truncation(0.97, 0.97, throughout=True, length_cap=512),
        "97% of responses hit max length (512 tokens), as they have since the start: almost none finish. The limit is "
        "too low or the policy never emits EOS.",
    ),
    (
        "generation.truncation",
        Truncation(0.88, 0.88, throughout=True),
        "88% of responses hit max length, as they have since the start: their reward is unreliable.",
    ),
    (
        "generation.truncation",
        Truncation(0.02, 0.41),
        "41% of responses are truncated at max length, up from 2%: their reward is unreliable.",
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
        "No gradient signal since step ~120: nearly every response gets the minimum reward (0), so advantages are "
        "zero.",
    ),
    (
        "signal.no_learning_signal",
        AllTied("between", 0.88, 10),
        "No gradient signal since step ~10: rewards don't differ within groups, so advantages are zero.",
    ),
    (
        "signal.no_learning_signal",
        AllTruncated(0.97, 0.0),
        "97% of responses are truncated and reward is at its minimum (0): almost none finish, so almost none can be "
        "right.",
    ),
    (
        "signal.zero_variance_groups",
        MostlyTied(0.94, "top", 1.0),
        "94% of groups have zero reward variance, mostly at the top reward (1): only the rest produce gradient.",
    ),
    (
        "signal.zero_variance_groups",
        MostlyTied(0.97, "between", 0.998),
        "97% of groups have zero reward variance (mean reward 0.998): only the rest produce gradient.",
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
        "resources.eval_overhead",
        LongerSteps(1.8, 0.17),
        "Evals cost 8% of wall time: eval steps take 1.8× as long.",
    ),
    (
        "resources.checkpoint_overhead",
        LongerSaves(2.4, 0.06),
        "Checkpoint saves cost 3% of wall time: steps that save take 2.4× as long.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert Finding(name, 0.9, "note", facts=facts).say() == said
