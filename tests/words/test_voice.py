"""The voice of every sentence: short clauses, a first clause that stands alone, and the words of the field."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import leadline
from leadline import pipeline
from leadline.contract import Reading
from leadline.event import ENDINGS, RateStep
from leadline.facts.finding import Cause, Facts, Finding, Move, PromptChange
from leadline.facts.machine import MemoryHeld
from leadline.facts.sections import MEANING, WHY, Explanation, LossNumbers, PolicyLoss
from leadline.findings import GUIDES
from leadline.findings.agent_turns import FailingTools, TurnsChange
from leadline.findings.conflict_process import MemoryTaken
from leadline.findings.generation_length import LengthChange
from leadline.findings.kl_drift import KlDrift
from leadline.findings.kl_reset import KlReset
from leadline.findings.policy_frozen import KlFrozen
from leadline.findings.policy_loss_jump import LossJump
from leadline.findings.resources_idle import LowPower
from leadline.findings.resources_memory_growth import MemoryGrowth
from leadline.findings.resources_stall import GpuState, Pause
from leadline.findings.reward_break import RewardBreak
from leadline.findings.reward_fall import RewardFall
from leadline.findings.reward_gamed import Gamed, ResponsesChanged
from leadline.findings.reward_outage import RewardOutage
from leadline.findings.reward_prompts_changed import PromptsChanged
from leadline.findings.signal_nan import BadValues, NotNumbers
from leadline.findings.signal_no_learning_signal import AllTied
from leadline.findings.signal_repeated_prompts import RepeatedPrompts
from leadline.findings.signal_train_eval_gap import TrainEvalGap
from leadline.findings.stability_moved import EntropyMoved, GradientNorm
from leadline.findings.stability_spike import LoudValue, Spikes
from leadline.findings.stability_stuck import StuckSeries, StuckValue
from leadline.findings.timeline_order import OnsetOrder, Tier
from leadline.findings.unexplained_break import SeriesMove, UnexplainedBreak
from leadline.run import Event
from leadline.words.review import NOT_GRADED, NOT_THE_SAME, ONE_PROMPT, SWAYED, UNUSABLE

EXAMPLES = Path(leadline.__file__).parent / "examples"
LONGEST = 20  # words of a clause
SHORTEST = 3  # words of a first clause
CUTS = (("healthy", 230), ("healthy", None), ("collapsed", 70), ("collapsed", 230), ("hacked", 300), ("hacked", None))
BANNED = (
    r" p=",
    r"\d %",
    r"\b(?:is|are) no (?!longer\b)",
    r"\b(?:no|any|some)(?:body|one)\b",
    r"\bat once\b|\bon the way\b|\bbesides?\b|\ball the same\b|\bany ?more\b",
    r"\bwhat (?:is|was|were|the)\b",
    r"\b[Aa]nswers?\b",
    r"\bcut off\b|\blength cap\b",
    r"\btied\b|\bteach\w*|\blearning signal\b",
    r"\bfell\b|\bfallen\b|\bwas lost\b",
    r"\bgamed\b|\bheld-out score\b|\breference model\b|\bwarm-up\b",
    r"\d times as\b|\d-fold\b",
    r"\bfrom [-\d.e]+%? to [-\d.e]+",
    r"\babout step \d",
    r"(?:general|normal|optim|penal|recogn|synchron)is(?:e|a|i)|behaviour|neighbour|colour|centred|towards|judgement",
)


def examples() -> Iterator[tuple[str, str]]:
    """The sentences of the other tests in this folder, with the ids of their findings."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        if file.name == Path(__file__).name:
            continue
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, facts, _ in getattr(module, "SAID", ()):
            if isinstance(facts, Facts):
                yield name, Finding(name, 1.0, "note", facts=facts).say()


GPUS = GpuState(idle=False, power_w=512.3, of_most=0.93)
NEW_RATE = Event("learning_rate", 203, RateStep(6.87e-05, 0.00206))
MORE: tuple[Facts, ...] = (  # ways of saying it that no example shows
    AllTied("top", 1.0, 31),
    AllTied("top", 1.0, None),
    AllTied("constant", 0.5, None),
    AllTied("bottom", 0.0, 12),
    AllTied("between", 0.5, 12),
    EntropyMoved(rose=False, start=2.0, now=0.1),
    FailingTools(0.04, 0.31, "unclear"),
    FailingTools(0.04, 0.31, None),
    Gamed(False, (Move("copied", 0.2, 0.9), Move("cut", 0.0, 0.99)), 180, 160, 210),
    Gamed(False, (Move("empty", 0.0, 0.4), Move("alike", 0.1, 0.9)), 180, 160, 210),
    Gamed(True, (), None, None, None),
    GradientNorm("grew", 0.5, 60.0, reward_lost=False),
    GradientNorm("grew", 0.5, 60.0, reward_lost=True),
    GradientNorm("shrank", 0.5, 0.01, reward_lost=True),
    KlDrift(40, 0.02, 1.2, 0.1, ever_gained=True),
    KlFrozen(1e-4, 0.2, 12.0, None),
    KlFrozen(None, None, None, 3e-7, still=("reward/mean", "entropy", "len/response_mean"), held=True),
    KlReset((120, 240, 360), announced=False, before=0.05, after=0.002),
    KlReset((1, 2, 3, 4, 5), announced=True),
    LengthChange(212.0, 640.0, "tokens", 140, "unclear", -0.44),
    LengthChange(640.0, 212.0, "characters", 140, None, 0.04),
    LossJump(150, Cause("event", NEW_RATE, shifted=("grad_norm", "kl/ref")), factor=2.6),
    LossJump(150, Cause("policy", shifted=tuple(f"my/key_{n}" for n in range(9))), before=0.1, after=0.4),
    LowPower(210.0, 0.3, "seen"),
    MemoryGrowth(40, 6.2, 71.0, None),
    MemoryTaken("jupyter", MemoryHeld(6.0, 6.0), tuple((n, n + 5) for n in range(0, 60, 10)), None),
    NotNumbers(100, (BadValues("entropy", 1, 300, 100, 0),)),
    NotNumbers(100, (BadValues("entropy", 1, 300, 100, 1), BadValues("grad_norm", 9, 300, 100, 9))),
    OnsetOrder("reward.peaked", 205, True, (Tier((), 203, 203, NEW_RATE), Tier(("kl/ref", "entropy"), 204, 206))),
    Pause(5, 2520.0, 11.0, True),
    Pause(5, 2520.0, 11.0, False, GPUS),
    PromptsChanged(PromptChange(140, 150), (PromptChange(200, 210), PromptChange(290, 300))),
    ResponsesChanged((Move("copied", 0.2, 0.9), Move("unlike", 1.0, 2.5)), 240, 240, 260, 0.88, 230),
    RepeatedPrompts(512, 0.9, None, None),
    RewardBreak(150, 140, 160, 0.4, Cause("outside", still=("kl/ref", "entropy"))),
    RewardBreak(150, 140, 160, -0.4, Cause("event", NEW_RATE, shifted=("kl/ref",))),
    RewardBreak(150, 140, 160, -0.4, Cause("prompts", prompts=PromptChange(140, 160))),
    RewardFall(0.9, 1, 0.2, 0.9, peaked=False, sudden_step=140),
    RewardOutage(301, 309, 9, 0.0, False),
    RewardOutage(301, 309, 9, 0.97, True, tools=True),
    Spikes((LoudValue("kl/update", 62, 2.0, 0.002, 1),), True),
    StuckSeries((StuckValue("reward/mean", -5.0, 20, 80),)),
    TrainEvalGap("eval/math/score", 0.6, 200, 0.4, 0.9, 0.9, others=0),
    TurnsChange("turns", 3.1, 9.8, "rose"),
    TurnsChange("tool_calls", 4.2, 0.6, None),
    UnexplainedBreak(82, (SeriesMove("kl/ref", rose=True),), ("len/response_mean", "my/key")),
)
SAID_BY_TESTS = (*examples(), *((type(facts).__name__, facts.say()) for facts in MORE))


@functools.cache
def read(run: str, until: int | None) -> Reading:
    return pipeline.read(EXAMPLES / run, until=until)


def unquoted(text: str) -> str:
    """Without keys of the log and text of the policy, which are not ours."""
    return re.sub(r"`[^`]*`|'[^' ][^']*'(?!\w)|\"[^\"]*\"", "QUOTED", text).replace("vs. ", "vs ")


def clauses(text: str) -> list[str]:
    bare = unquoted(text)
    while bare != (bare := re.sub(r"\([^()]*\)", "", bare)):
        pass
    return re.split(r"[.:;—](?:\s+|$)", bare)


def words(text: str) -> int:
    return sum(any(char.isalnum() for char in word) for word in text.split())


def first_clause(text: str) -> str:
    """The short form: up to the first colon or period."""
    return re.split(r"[.:](?:\s|$)", text, maxsplit=1)[0]


def faults(text: str, *, alone: bool = False) -> list[str]:
    """What is wrong with a sentence; `alone` if its first clause has to stand alone."""
    found = [f"{words(clause)} words: {clause}" for clause in clauses(text) if words(clause) > LONGEST]
    found += [f"{banned}: {text}" for banned in BANNED if re.search(banned, unquoted(text))]
    first = first_clause(text)
    opens = first[:1].isupper() or first[:1].isdigit() or first[:1] == "`"
    if alone and not (opens and words(first) >= SHORTEST and first.count("(") == first.count(")")):
        found.append(f"the first clause does not stand alone: {first}")
    return found


@pytest.mark.parametrize(("name", "said"), SAID_BY_TESTS, ids=[name for name, _ in SAID_BY_TESTS])
def test_an_example_keeps_the_voice(name: str, said: str) -> None:
    assert faults(said, alone=True) == []


@pytest.mark.parametrize(("run", "until"), CUTS)
def test_a_bundled_run_keeps_the_voice(run: str, until: int | None) -> None:
    reading = read(run, until)
    assert reading.findings
    said = [one.say() for one in reading.findings]
    assert [fault for text in said for fault in faults(text, alone=True)] == []
    odd = [f"{found.says} {found.because}" for found in reading.benign]
    events = [one.say() for one in reading.run.events]
    curves = [reading.reward.say(), reading.kl_reward.line(), reading.policy_loss.say()]
    assert [fault for text in (*odd, *events, *curves) for fault in faults(text)] == []


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_keeps_the_voice(name: str) -> None:
    assert [fault for text in GUIDES[name] for fault in faults(text)] == []


@pytest.mark.parametrize("because", get_args(Explanation))
def test_what_is_said_of_the_loss_keeps_the_voice(because: Explanation) -> None:
    assert faults(PolicyLoss(because=because, numbers=LossNumbers(30, 12, 0.04, 0.04)).say()) == []


@pytest.mark.parametrize(
    "text",
    [*MEANING.values(), *ENDINGS.values(), *WHY.values(), NOT_GRADED, NOT_THE_SAME, ONE_PROMPT, SWAYED, UNUSABLE],
)
def test_a_fragment_keeps_the_voice(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Reward fell from 0.9 to 0.2 (p=.97).",
        "41 % of the answers are cut off.",
        "Reward hacking: responses loop.",
        "Stalled 42 min before step 5 (typical: 11 s).",
        f"Reward dropped {'very ' * LONGEST}far.",
    ],
)
def test_the_search_for_faults_finds_them(text: str) -> None:
    assert faults(text, alone=True)


def test_text_of_the_policy_is_not_ours() -> None:
    assert faults("Possible reward shortcut: samples now contain 'nobody answers' and `cut off`.", alone=True) == []
