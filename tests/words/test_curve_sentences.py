"""What is printed about reward, KL, loss and stability: each sentence from its facts, as a person would write it."""

from __future__ import annotations

import pytest

from leadline.facts import Facts, Finding
from leadline.facts.cause import Cause, PromptChange
from leadline.facts.kl import Drift, KlReward
from leadline.facts.loss import LossNumbers, PolicyLoss
from leadline.facts.reward import RewardPeak, RewardReading, Trajectory
from leadline.findings.kl_destructive import KlDestructive
from leadline.findings.kl_drift import KlDrift
from leadline.findings.kl_frozen import KlFrozen
from leadline.findings.kl_pinned import KlPinned
from leadline.findings.kl_reset import KlReset
from leadline.findings.onset import OnsetOrder, Tier
from leadline.findings.policy_loss_jump import LossJump
from leadline.findings.reward_break import RewardBreak
from leadline.findings.reward_component import ComponentTrade
from leadline.findings.reward_fall import RewardFall
from leadline.findings.reward_prompts_changed import PromptsChanged
from leadline.findings.signal_nan import BadValues, NotNumbers
from leadline.findings.signal_sampler_mismatch import SamplerMismatch
from leadline.findings.signal_train_eval_gap import TrainEvalGap
from leadline.findings.stability_degrading import Degrading, Worsened
from leadline.findings.stability_entropy import EntropyMoved
from leadline.findings.stability_grad_norm import GradientNorm
from leadline.findings.stability_spike import LoudValue, Spikes
from leadline.findings.stability_stuck import StuckSeries, StuckValue
from leadline.findings.unexplained_break import SeriesMove, UnexplainedBreak
from leadline.findings.unexplained_unread_key import UnreadKeys
from leadline.words import kl, loss, reward, sentence
from leadline.words.kl import MEANING

OUTSIDE = Cause("outside", shifted=("reward/std",), still=("kl/ref", "entropy", "grad_norm"))

SAID: list[tuple[str, Facts, str]] = [
    (
        "reward.break",
        RewardBreak(150, 150, 151, -0.4, OUTSIDE, unlogged=False),
        "Reward fell suddenly at step 150, by 0.4. KL, entropy and gradient norm did not move, so the prompts or the "
        "reward function probably changed, not the policy. The spread of rewards shifted at the same step.",
    ),
    (
        "reward.break",
        RewardBreak(150, 100, 181, 0.4, Cause("unlogged"), unlogged=True),
        "Reward rose by 0.4 in a gap of the log, between steps 100 and 181. Nobody saw what happened there.",
    ),
    (
        "reward.peaked",
        RewardFall(0.9, 120, 0.2, 0.4, peaked=True, sudden_step=140),
        "Reward peaked at 0.9 around step 120 and has fallen to 0.2 (most of it at once, at step 140), below the 0.4 "
        "it started from.",
    ),
    (
        "reward.declining",
        RewardFall(0.9, 1, 0.2, 0.9, peaked=False, sudden_step=None),
        "Reward has fallen from 0.9 to 0.2.",
    ),
    (
        "reward.prompts_changed",
        PromptsChanged(PromptChange(140, 150)),
        "The prompts changed between steps 140 and 150. Rewards before and after are for different tasks, so a lower "
        "reward there does not mean a worse policy.",
    ),
    (
        "signal.train_eval_gap",
        TrainEvalGap("eval/math/score", 0.6, 200, 0.4, 0.7, 0.9, others=2),
        "Held-out reward (eval/math/score) has fallen from 0.6 around step 200 to 0.4 while training reward went from "
        "0.7 to 0.9: the gains no longer generalise. So did 2 other held-out sets.",
    ),
    (
        "reward.component",
        ComponentTrade("format", 0.4, 0.9, "accuracy", 0.6, 0.3, 120, 0.3, 0.1),
        "Since step 120 reward component format rose from 0.4 to 0.9 while accuracy fell from 0.6 to 0.3: one is "
        "gained at the expense of the other. format also varies more between samples (0.3 against 0.1), so it drives "
        "the gradient.",
    ),
    (
        "kl.reset",
        KlReset((120, 240), announced=True),
        "The reference model is reset at steps 120 and 240, so KL starts again there. A saw-tooth is normal here.",
    ),
    (
        "kl.reset",
        KlReset((120,), announced=False, before=0.05, after=0.002),
        "KL dropped at once at step 120, from 0.05 to 0.002, and the reward did not move: that is what a reset of the "
        "reference model looks like. KL before and after is measured from different models.",
    ),
    (
        "kl.drift_without_benefit",
        KlDrift(1, 0.02, 1.2, 0.1, ever_gained=False),
        "Since step 1 KL rose from 0.02 to 1.2, 11.8 times its noise per step, and the reward has not gained beyond "
        "its noise: drift without benefit.",
    ),
    (
        "kl.destructive",
        KlDestructive(165, 0.03, 1.8, 0.96, 0.005),
        "Since step 165 KL rose from 0.03 to 1.8 while reward fell from 0.96 to 0.005: the updates are destructive.",
    ),
    (
        "kl.frozen",
        KlFrozen(1e-6, 0.003, 12.0, 2e-8),
        "The policy hardly moves: KL is 1e-06 per token, so less than 1 % of its answers can differ from the reference "
        "model's. Suspect the learning rate (2e-08).",
    ),
    (
        "kl.pinned",
        KlPinned(0.005, 0.2, 15.0, 3.0),
        "The KL penalty may pin the policy: reward and KL stand still though there is signal left to learn from, and "
        "at most 20 % of the answers can differ from the reference model's. Suspect the KL coefficient (3).",
    ),
    (
        "kl.pinned",
        KlPinned(0.05, 0.4, 6.0, 1.0, gained=True),
        "Reward and KL have come to rest where the KL penalty pulls back with much of what learning can pull with, and "
        "there is signal left to learn from: with a lower KL coefficient than 1 the policy would go further.",
    ),
    (
        "kl.frozen",
        KlFrozen(None, None, None, 0.0, since_step=120),
        "The learning rate has been 0 since step 120, and nothing has moved since. The schedule is over: further steps "
        "change nothing.",
    ),
    (
        "kl.frozen",
        KlFrozen(1.0, None, None, 3e-7, still=("reward/mean", "entropy"), held=True),
        "Nothing moves: reward and entropy have stayed within their noise from the start, and KL is 1. Suspect the "
        "learning rate (3e-07), or a KL coefficient that is too high.",
    ),
    (
        "policy_loss.jump",
        LossJump(150, Cause("none"), factor=0.382),
        "The policy loss varies only 38 % as much from step 150 on. No cause was found: nothing else in the log "
        "shifts at that step.",
    ),
    (
        "policy_loss.jump",
        LossJump(150, Cause("settings", shifted=("grad_norm",)), before=0.1, after=0.4),
        "The policy loss jumped from 0.1 to 0.4 at step 150. Likely cause: the learning rate changed there. Gradient "
        "norm shifted at the same step.",
    ),
    (
        "policy_loss.jump",
        LossJump(150, Cause("none"), before=0.4, after=0.1),
        "The policy loss dropped from 0.4 to 0.1 at step 150. No cause was found: nothing else in the log shifts at "
        "that step.",
    ),
    (
        "stability.grad_norm",
        GradientNorm("jumped", 0.2, 5.0, reward_lost=True, step=150, factor=12.5),
        "The gradient norm jumped 12.5-fold at step 150, and reward was lost.",
    ),
    (
        "stability.grad_norm",
        GradientNorm("grew", 0.5, 60.0, reward_lost=False, reward_rose=True),
        "The gradient norm grew from 0.5 to 60 while the reward rose.",
    ),
    (
        "stability.entropy",
        EntropyMoved(rose=True, start=0.1, now=2.0),
        "Entropy rose from 0.1 to 2 while reward was lost: the policy has become incoherent.",
    ),
    (
        "signal.sampler_mismatch",
        SamplerMismatch("mismatch/kl", 0.001, 0.02, 2),
        "Trainer and sampler drift apart: mismatch/kl went from 0.001 to 0.02. 2 series show it.",
    ),
    (
        "signal.nan",
        NotNumbers(100, (BadValues("grad_norm", 50, 300, 251, 50), BadValues("entropy", 1, 300, 100, 0))),
        "NaN, infinite or too large to be read since step 100: gradient norm (50 of 300 values), entropy (1 of 300 "
        "values). Gradient norm is no number any more (its last 50 values).",
    ),
    (
        "stability.spike",
        Spikes((LoudValue("kl/ref", 120, 427201.0, 0.04, 1), LoudValue("grad_norm", 121, 25.0, 0.2, 3)), False),
        "KL spiked to 427201 at step 120 (usually 0.04); gradient norm spiked to 25 at step 121 (usually 0.2), the "
        "largest of 3 such values. The reward did not fall there.",
    ),
    (
        "stability.stuck",
        StuckSeries((StuckValue("entropy", 0.0, 4, 96), StuckValue("reward/mean", -5.0, 20, 80))),
        "Entropy has been exactly 0 since step 4 (96 points): the policy is deterministic and explores nothing; reward "
        "has been exactly -5 since step 20 (80 points).",
    ),
    (
        "stability.degrading",
        Degrading(
            (Worsened("entropy", 0.2, 1.2, 60, 0.99), Worsened("len/response_clip_frac", 0.0, 0.1, 80, 0.95)), 80
        ),
        "Quality degrades since step ~80 while reward is flat: entropy 0.2 → 1.2 and truncated share 0 → 0.1.",
    ),
    (
        "onset",
        OnsetOrder("kl.reset", 150, False, (Tier(("grad_norm",), 120, 124), Tier(("kl/ref", "entropy"), 130, 130))),
        "Order of changes around step 150: gradient norm (steps 120 to 124), then KL and entropy (step 130).",
    ),
    (
        "unexplained.break",
        UnexplainedBreak(82, (SeriesMove("kl/ref", rose=True), SeriesMove("entropy", rose=False)), ()),
        "KL rose and entropy fell suddenly at step 82. No event is known there: no change of the learning rate, no "
        "resume, no reset of the reference. Nothing else in the log shifts there.",
    ),
    (
        "unexplained.unread_key",
        UnreadKeys("reward.peaked", 150, ("my/odd", "my/other"), more=3),
        "`my/odd`, `my/other` and 3 more shifted near step 150 as well. Leadline does not know what they mean; you "
        "may.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID, ids=[name for name, _, _ in SAID])
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts=facts)) == said


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("rising", "still rising: from 0.2 to 0.7; noise ±0.02 per step"),
        ("flat", "it rose from 0.2 to 0.7 and has plateaued; noise ±0.02 per step"),
        ("noise", "no trend, only noise around 0.7; noise ±0.02 per step"),
        ("peaked", "it rose from 0.2 to 0.9 around step 80 (70 to 90) and is at 0.7 now; noise ±0.02 per step"),
        ("undecided", "probably rising (60 %) or flat (30 %); 0.2 at the start, 0.7 now; noise ±0.02 per step"),
    ],
)
def test_the_reward_is_told_by_its_shape(shape: str, said: str) -> None:
    numbers = Trajectory("read", 200, 6, start=0.2, now=0.7, peak=0.9, noise=0.02)
    peak = RewardPeak(80, (70, 90), 0.9)
    probabilities = {"rising": 0.6, "flat": 0.3, "noise": 0.1}
    assert reward.trajectory(RewardReading(shape, probabilities, peak, trajectory=numbers)) == said


@pytest.mark.parametrize(
    ("share", "said"), [(0.45, "not clear yet: flat"), (0.5, "not clear yet: flat"), (0.51, "probably flat")]
)
def test_probably_is_likelier_than_all_else_together(share: float, said: str) -> None:
    numbers = Trajectory("read", 200, 6, start=0.2, now=0.7, peak=0.9, noise=0.02)
    probabilities = {"flat": share, "rising": 0.44, "noise": 1 - share - 0.44}
    assert reward.trajectory(RewardReading("undecided", probabilities, None, trajectory=numbers)).startswith(said)


def test_a_reward_that_cannot_be_read_says_why() -> None:
    def said(numbers: Trajectory) -> str:
        return reward.trajectory(RewardReading("undecided", {}, None, trajectory=numbers))

    assert said(Trajectory("missing")) == "no training reward was found in the log"
    assert said(Trajectory("not_numbers", points=30)) == "none of its 30 values is a finite number"
    few = Trajectory("too_few", 1, 6, start=0.0, now=0.0, noise=0.0)
    assert said(few) == "1 point so far; at least 6 are needed to say anything"
    stuck = Trajectory("constant", 30, 6, start=0.5, now=0.5, noise=0.0, last_number_step=30)
    assert said(stuck) == "up to step 30, its last number: 0.5 at all 30 points; it never moved"


def test_each_regime_names_kl_and_reward() -> None:
    assert all("KL" in said and "reward" in said for said in MEANING.values())
    assert kl.regime(KlReward("stable/flat", state="read", below_best=True)).endswith("plateaued below its best")


def test_without_kl_the_reader_is_told_what_else_may_show_drift() -> None:
    seen = (Drift("entropy", "fell", 0.9, 0.1), Drift("len/response_mean", "still", 80, 81))
    assert kl.regime(KlReward("no_kl", state="not_logged", drift=seen)) == (
        "KL to the reference was not logged. What else may show drift: entropy fell from 0.9 to 0.1; response length "
        "shows no clear trend around 81."
    )


def test_a_loss_that_is_the_kl_penalty_says_so() -> None:
    numbers = LossNumbers(kl_factor=0.04, kl_coefficient=0.04)
    said = loss.pattern(PolicyLoss(pattern="by_construction", because="kl_penalty", numbers=numbers))
    assert said.startswith("It is 0.04 times KL, the KL coefficient 0.04: the policy term is 0 by construction")


@pytest.mark.parametrize(
    ("start", "now", "said"),
    [(0.5, 0.2, "it falls, from 0.5 to 0.2"), (0.2, 0.3, "it falls lately; 0.2 at the start, 0.3 now")],
)
def test_a_loss_that_turned_is_not_said_to_fall_to_more_than_it_was(start: float, now: float, said: str) -> None:
    section = PolicyLoss(True, "declining", because="falling", numbers=LossNumbers(start=start, now=now))
    assert loss.pattern(section) == said
