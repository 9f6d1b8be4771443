"""What is printed about reward, KL, loss and stability: each sentence from its facts, as a person would write it."""

from __future__ import annotations

import pytest

from leadline.facts.finding import Cause, Facts, Finding, PromptChange
from leadline.facts.sections import (
    MEANING,
    Drift,
    KlReward,
    LossNumbers,
    PolicyLoss,
    RewardPeak,
    RewardReading,
    Trajectory,
    TurningPoint,
)
from leadline.findings.kl_destructive import KlDestructive
from leadline.findings.kl_drift import KlDrift
from leadline.findings.kl_reset import KlReset
from leadline.findings.policy_frozen import KlFrozen
from leadline.findings.policy_loss_jump import LossJump
from leadline.findings.reward_break import RewardBreak
from leadline.findings.reward_fall import RewardFall
from leadline.findings.reward_hacks_logged import HacksLogged
from leadline.findings.reward_prompts_changed import PromptsChanged
from leadline.findings.signal_nan import BadValues, NotNumbers
from leadline.findings.signal_sampler_mismatch import SamplerMismatch
from leadline.findings.signal_train_eval_gap import TrainEvalGap
from leadline.findings.stability_degrading import Degrading, Worsened
from leadline.findings.stability_moved import EntropyMoved, GradientNorm
from leadline.findings.stability_spike import LoudValue, Spikes
from leadline.findings.stability_stuck import StuckSeries, StuckValue
from leadline.findings.timeline_order import OnsetOrder, Tier
from leadline.findings.unexplained_break import SeriesMove, UnexplainedBreak

OUTSIDE = Cause("outside", shifted=("reward/std",), still=("kl/ref", "entropy", "grad_norm"))

SAID: list[tuple[str, Facts, str]] = [
    (
        "reward.hacks_logged",
        HacksLogged("n_hacks", 0.5, 60.0),
        "The log counts hacking: n_hacks rose 0.50 → 60. Read samples before trusting the reward.",
    ),
    (
        "reward.break",
        RewardBreak(150, 150, 151, -0.4, OUTSIDE),
        "Reward dropped 0.4 at step 150. KL, entropy, and gradient norm didn't move: suspect prompts or reward "
        "function. Reward std shifted too.",
    ),
    (
        "reward.peaked",
        RewardFall(0.9, 120, 0.2, 0.4, peaked=True, sudden_step=140),
        "Reward peaked at step ~120 and dropped 0.900 → 0.200, mostly at step 140: now below its start of 0.400.",
    ),
    (
        "reward.declining",
        RewardFall(0.9, 1, 0.2, 0.9, peaked=False, sudden_step=None),
        "Reward declined 0.900 → 0.200.",
    ),
    (
        "reward.prompts_changed",
        PromptsChanged(PromptChange(140, 150)),
        "Prompts changed between steps 140 and 150: rewards before and after aren't comparable, and a lower reward "
        "doesn't mean a worse policy.",
    ),
    (
        "reward.prompts_changed",
        PromptsChanged(PromptChange(140, 150), apart=False),
        "Prompts changed between steps 140 and 150: reward did not step there, so the run is read as one.",
    ),
    (
        "signal.train_eval_gap",
        TrainEvalGap("eval/math/score", 0.6, 200, 0.4, 0.7, 0.9, others=2),
        "Held-out eval regressed: eval/math/score dropped 0.600 → 0.400 since step ~200 while training "
        "reward went 0.700 → 0.900. Gains no longer generalize; 2 other evals regressed too.",
    ),
    (
        "kl.reset",
        KlReset((120, 240), announced=True),
        "Reference policy reset at steps 120 and 240: KL restarts there, so a sawtooth is expected.",
    ),
    (
        "kl.reset",
        KlReset((120,), announced=False, before=0.05, after=0.002),
        "KL dropped 0.050 → 0.002 at step 120 with reward unchanged: likely a reference reset. KL before and "
        "after isn't comparable.",
    ),
    (
        "kl.drift_without_benefit",
        KlDrift(1, 0.02, 1.2, 0.1, ever_gained=False),
        "KL drift without benefit since step 1: KL rose 0.020 → 1.20 (11.8× its per-step noise), reward gain "
        "is within noise.",
    ),
    (
        "kl.destructive",
        KlDestructive(165, 0.03, 1.8, 0.96, 0.005),
        "Destructive updates since step 165: KL rose 0.030 → 1.80 while reward dropped 0.960 → 0.005.",
    ),
    (
        "policy.frozen",
        KlFrozen(1e-6, 0.003, 12.0, 2e-8),
        "Policy is frozen: at KL 1e-06 per token, <1% of responses can differ from the reference. Suspect the "
        "learning rate (2e-08).",
    ),
    (
        "policy.frozen",
        KlFrozen(None, None, None, 0.0, since_step=120),
        "Learning rate has been 0 since step 120: nothing has moved since. The schedule is over, so more steps change "
        "nothing.",
    ),
    (
        "policy.frozen",
        KlFrozen(1.0, None, None, 3e-7, still=("reward/mean", "entropy"), held=True),
        "Nothing is changing: reward and entropy have been within noise since the start; KL is at 1. Suspect the "
        "learning rate (3e-07) or a KL coefficient that is too high.",
    ),
    (
        "policy_loss.jump",
        LossJump(150, Cause("none"), factor=0.382),
        "Policy-loss fluctuations shrank to 38% from step 150. No cause found: no other metric shifts there.",
    ),
    (
        "policy_loss.jump",
        LossJump(150, Cause("policy", shifted=("grad_norm",)), before=0.1, after=0.4),
        "Policy loss jumped 0.100 → 0.400 at step 150. Gradient norm shifted too.",
    ),
    (
        "policy_loss.jump",
        LossJump(150, Cause("none"), before=0.4, after=0.1),
        "Policy loss dropped 0.400 → 0.100 at step 150. No cause found: no other metric shifts there.",
    ),
    (
        "stability.grad_norm",
        GradientNorm("jumped", 0.2, 5.0, reward_lost=True, step=150, factor=12.5),
        "Gradient norm jumped 12.5× at step 150 as reward dropped.",
    ),
    (
        "stability.grad_norm",
        GradientNorm("grew", 0.5, 60.0, reward_lost=False, reward_rose=True),
        "Gradient norm grew 0.50 → 60 while reward rose.",
    ),
    (
        "stability.entropy",
        EntropyMoved(rose=True, start=0.1, now=2.0),
        "Entropy blew up 0.100 → 2 as reward dropped.",
    ),
    (
        "signal.sampler_mismatch",
        SamplerMismatch("mismatch/kl", 0.001, 0.02, 2),
        "Training–inference mismatch is growing: mismatch/kl 0.001 → 0.020 (2 metrics show it).",
    ),
    (
        "signal.nan",
        NotNumbers(100, (BadValues("grad_norm", 50, 300, 251, 50), BadValues("entropy", 1, 300, 100, 0))),
        "NaN, Inf, or overflow since step 100: gradient norm (50 of 300 values), entropy (1 of 300 values). Not "
        "recovered: gradient norm (last 50 values).",
    ),
    (
        "stability.spike",
        Spikes((LoudValue("kl/ref", 120, 427201.0, 0.04, 1), LoudValue("grad_norm", 121, 25.0, 0.2, 3)), False),
        "KL spiked to 427201 at step 120 (typical 0.04); gradient norm spiked to 25 at step 121 (typical 0.2, largest "
        "of 3 spikes). Reward did not drop there.",
    ),
    (
        "stability.stuck",
        StuckSeries((StuckValue("entropy", 0.0, 4, 96), StuckValue("reward/mean", -5.0, 20, 80))),
        "Entropy stuck at exactly 0 since step 4 (96 points); reward stuck at exactly -5 since step 20 (80 points). "
        "The policy is deterministic and no longer explores.",
    ),
    (
        "stability.degrading",
        Degrading(
            (Worsened("entropy", 0.2, 1.2, 60, 0.99), Worsened("len/response_clip_frac", 0.0, 0.1, 80, 0.95)), 80
        ),
        ("Quality has degraded since step ~80 while reward is flat: entropy 0.20 → 1.20 and truncated share 0% → 10%."),
    ),
    (
        "timeline.order",
        OnsetOrder("kl.reset", 150, False, (Tier(("grad_norm",), 120, 124), Tier(("kl/ref", "entropy"), 130, 130))),
        "Timeline around step 150: gradient norm (120–124) → KL, entropy (130).",
    ),
    (
        "unexplained.break",
        UnexplainedBreak(82, (SeriesMove("kl/ref", rose=True), SeriesMove("entropy", rose=False)), ()),
        "KL jumped and entropy dropped at step 82, unexplained: no learning-rate change, resume, or reference reset, "
        "and no other metric shifts.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID, ids=[name for name, _, _ in SAID])
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert Finding(name, 0.9, "note", facts=facts).say() == said


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("rising", "0.200 → 0.700, rising; noise ±0.02 per step"),
        ("flat", "0.200 → 0.700, plateaued; noise ±0.02 per step"),
        ("noise", "flat around 0.700; noise ±0.02 per step"),
        ("peaked", "peaked at step 80 (70–90), now 0.700; noise ±0.02 per step"),
        ("undecided", "0.200 → 0.700, trend unclear (rising 60% or flat 30%); noise ±0.02 per step"),
    ],
)
def test_the_reward_is_told_by_its_shape(shape: str, said: str) -> None:
    numbers = Trajectory("read", 200, 6, start=0.2, now=0.7, peak=0.9, noise=0.02)
    peak = RewardPeak(80, (70, 90), 0.9)
    probabilities = {"rising": 0.6, "flat": 0.3, "noise": 0.1}
    assert RewardReading(shape, probabilities, peak, trajectory=numbers).say() == said


def test_a_rise_that_did_not_begin_at_the_start_is_told_from_where_it_began() -> None:
    numbers = Trajectory("read", 200, 6, start=0.6, now=0.5, noise=0.02, turn=TurningPoint(0.2, 77))
    said = RewardReading("rising", {"rising": 1.0}, None, trajectory=numbers).say()
    assert said == "0.200 → 0.500 since step 77, rising (started at 0.600); noise ±0.02 per step"


def test_a_reward_that_cannot_be_read_says_why() -> None:
    def said(numbers: Trajectory) -> str:
        return RewardReading("undecided", {}, None, trajectory=numbers).say()

    assert said(Trajectory("missing")) == "no reward metric found in the log"
    assert said(Trajectory("not_numbers", points=30)) == "all 30 values are NaN or Inf"
    few = Trajectory("too_few", 1, 6, start=0.0, now=0.0, noise=0.0)
    assert said(few) == "1 point logged, 6 needed"
    stuck = Trajectory("constant", 30, 6, start=0.5, now=0.5, noise=0.0, last_number_step=30)
    assert said(stuck) == "until step 30, its last finite value: constant at 0.500 (all 30 points)"


def test_each_regime_names_kl_and_reward() -> None:
    assert all("KL" in said and "reward" in said for said in MEANING.values())
    assert KlReward("stable/flat", state="read", below_best=True).say().endswith("plateaued below its best")


def test_without_kl_the_reader_is_told_what_else_may_show_drift() -> None:
    seen = (Drift("entropy", "fell", 0.9, 0.1), Drift("len/response_mean", "still", 80, 81))
    assert KlReward("no_kl", state="not_logged", drift=seen).say() == (
        "KL to reference was not logged. Other drift indicators: entropy dropped 0.900 → 0.100; response "
        "length is around 81."
    )


def test_a_loss_that_is_the_kl_penalty_says_so() -> None:
    numbers = LossNumbers(kl_factor=0.04, kl_coefficient=0.04)
    said = PolicyLoss(pattern="by_construction", because="kl_penalty", numbers=numbers).say()
    assert said.startswith("loss = 0.04 × KL (KL coefficient 0.04): the policy term is 0 by construction")
