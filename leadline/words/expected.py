"""What looks odd and is normal here, and why: two clauses for each rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts import Facts
from ..facts.expected import (
    AtStep,
    BelowZero,
    EntropyFall,
    EverySteps,
    Expected,
    Known,
    LossNearZero,
    LowRatios,
    MultipleOfKl,
    NothingClipped,
    OfKey,
    Ratio,
    Resets,
    Share,
    SparseEvaluation,
    SummedKeys,
    TiesWhenSolved,
    TwoKeys,
)
from ..facts.loss import Explanation
from .numbers import counted, number, percent

SELDOM = 0.05  # of the points: told as their number, not as a share
KEYS = 4  # named in one sentence
LITTLE = 0.1  # of the entropy at the start: with more left nobody asks

Said = tuple[str, str]  # what, and because of what


# What somebody who saw it would take for a fault. The rest is for who looks for it: a screen does not show it.
WORRYING = frozenset(
    f"expected.{name}"
    for name in (
        "loss_near_zero",
        "loss_is_kl",
        "clip_zero",
        "update_kl_zero",
        "truncated_ratios",
        "explained_variance",
        "negative_kl",
        "sawtooth_kl",
        "filtered_reward",
        "filtered_training_reward",
        "normalised_reward",
        "entropy_falls",
        "ties_when_solved",
        "solved_spread",
        "batch_scaled_ties",
        "ties_after_kl",
        "sums_over_updates",
        "generation_is_waiting",
    )
)


LOSS_ABOUT_ZERO = ("kl_penalty", "one_update", "one_update_zero", "about_zero", "rounding", "zero_advantages")
OF_THE_LOSS = ("expected.loss_near_zero", "expected.loss_is_kl")


def worried_about(expected: Expected, loss: Explanation) -> bool:
    """Whether somebody who saw it would have worried, and no line on the loss tells it already."""
    facts = expected.facts
    if isinstance(facts, EntropyFall) and facts.now > LITTLE * facts.start:  # so much falls in every run that learns
        return False
    told = expected.id in OF_THE_LOSS and loss in LOSS_ABOUT_ZERO
    return expected.id in WORRYING and not told


def says(expected: Expected) -> str:
    """What looks odd, as a sentence."""
    return _said(expected)[0]


def because(expected: Expected) -> str:
    """Why it is normal, without a full stop."""
    return _said(expected)[1]


def _said(expected: Expected) -> Said:
    return SENTENCES[expected.id](expected.facts)


def _loss_near_zero(facts: LossNearZero) -> Said:
    given = "with one update per batch" if facts.one_update else "if each batch is used for one update"
    return (
        f"The loss stays near zero (median {number(facts.median)}). That is normal here.",
        f"{given} the ratio is 1 and centred advantages cancel: the value is zero, its gradient is not",
    )


def _negative_loss(facts: BelowZero) -> Said:
    share = facts.below / facts.points
    where = (
        f"{facts.below} of {counted(facts.points, 'point')}" if share < SELDOM else f"{percent(share)} of the points"
    )
    return (
        f"The policy loss is below zero at {where}. That is normal.",
        "it is minus the weighted advantage, not an error: its sign means nothing and it need not fall",
    )


def _loss_is_kl(facts: MultipleOfKl) -> Said:
    return (
        f"The loss follows the KL: it is {number(facts.factor)} times the reference KL. That is normal here.",
        f"the policy term cancels, so `{facts.key}` shows the KL penalty alone",
    )


def _clip_zero(facts: NothingClipped) -> Said:
    if facts.update_kl:
        given = "each batch is used for one update" if facts.certain else "one update per batch does that"
        return (
            "The clip fraction and the update KL are exactly 0 at every point. That is normal here.",
            f"{given}: the old and the new policy are the same where they are compared",
        )
    what = "The clip fraction is exactly 0 at every point."
    if facts.certain:
        return f"{what} That is normal here.", "each batch is used for one update, so no ratio can be clipped"
    return what, "one update per batch does that; the configuration does not say how many there are"


def _update_kl_zero(facts: Known) -> Said:
    given = "each batch is used for one update" if facts.certain else "one update per batch does that"
    return (
        "The update KL is exactly 0 at every point. That is normal here.",
        f"{given}: it is measured before the update, where the old and the new policy are the same",
    )


def _truncated_ratios(facts: LowRatios) -> Said:
    sampled = " and the samples are drawn with top_p below 1" if facts.top_p else ""
    return (
        f"The importance ratio leans below 1 (median {number(facts.median)}). That is normal here.",
        f"TRL logs it after truncation{sampled}, so it cannot average to 1",
    )


def _advantages_about_zero(_: Facts) -> Said:
    return (
        "The mean advantage stays near 0. That is normal here.",
        "advantages are centred within each group or batch, whatever the reward does",
    )


def _explained_variance(_: Facts) -> Said:
    return (
        "The explained variance of the critic starts below 0. That is normal early on.",
        "an untrained critic is worse than the mean; it has been rising since",
    )


def _no_reference_kl(facts: Known) -> Said:
    if facts.certain:
        return (
            "No reference KL is logged. That is normal here.",
            "the KL coefficient is 0, so the reference model is not used; drift is read from other signals",
        )
    return "No reference KL is logged.", "TRL leaves it out when beta is 0, its default; nothing here says otherwise"


def _kl_logged_as_zero(facts: Known) -> Said:
    given = "the KL coefficient is 0" if facts.certain else "a KL coefficient of 0 does that"
    return "The reference KL is exactly 0 at every point.", f"{given}: it is logged without being computed"


def _negative_kl(facts: Known) -> Said:
    doubt = "" if facts.certain else "; the log does not name its estimator, but k2 and k3 are never negative"
    return (
        "The reference KL is below zero at times. That is normal here.",
        f"the k1 estimate (mean log ratio of the sampled tokens) can be negative; only its expectation is a KL{doubt}",
    )


def _negative_update_kl(_: Facts) -> Said:
    return (
        "The update KL is below zero at times. That is normal here.",
        "it is the mean log ratio of the old to the new policy, which scatters around a value near 0",
    )


def _sawtooth_kl(facts: Resets) -> Said:
    again = " and again later" if facts.again else ""
    when = f"at step {facts.first_step}{again}" if facts.every is None else f"every {facts.every} steps"
    return (
        "The reference KL drops and climbs again. That is normal here.",
        f"the reference is reset to the policy {when}, so KL measures the drift since then, not since the start",
    )


def _kl_starts_at_zero(_: Facts) -> Said:
    return (
        "The reference KL is exactly 0 at the first point. That is normal.",
        "before the first update the policy is the reference; a resumed run would not start there",
    )


def _reward_after_kl(facts: TwoKeys) -> Said:
    return (
        f"`{facts.key}` lies below `{facts.other}`. That is normal here.",
        "the KL penalty is subtracted from the reward; Leadline reads the reward before it",
    )


def _filtered_reward(facts: OfKey) -> Said:
    return (
        f"`{facts.key}` stays mid-range whatever the policy learns. That is normal.",
        "groups that are all right or all wrong are dropped first, so its flatness says nothing; the trend is in the "
        "unfiltered reward",
    )


def _filtered_training_reward(facts: OfKey) -> Said:
    return (
        "The training reward stays mid-range. That is normal here.",
        f"`{facts.key}` drops groups that are all right or all wrong first, so its flatness says nothing; a held-out "
        "score would show the trend",
    )


def _normalised_reward(facts: OfKey) -> Said:
    return (
        f"`{facts.key}` stays near 0. That is normal.",
        "it is the reward after normalisation within groups; the raw reward is another key",
    )


def _entropy_falls(facts: EntropyFall) -> Said:
    return (
        f"Entropy fell from {number(facts.start)} to {number(facts.now)} while the reward rose. That is normal.",
        "a policy that finds what works becomes more certain; it is a worry only where the reward does not rise",
    )


def _binary_spread(_: Facts) -> Said:
    return (
        "The spread of rewards shrank as the reward rose. That is normal here.",
        "rewards are right or wrong: their spread is sqrt(p(1-p)), which vanishes as nearly all become right",
    )


def _ties_when_solved(facts: TiesWhenSolved) -> Said:
    return (
        f"{percent(facts.tied)} of the groups have no spread in reward, {percent(facts.tied_at_start)} at the start. "
        "That is normal here.",
        f"the mean reward is at {percent(facts.reward_level)} of its range, so more groups are right throughout; there "
        "is less left to learn from them",
    )


def _solved_spread(_: Facts) -> Said:
    return (
        "The spread of rewards is near zero. That is normal here.",
        "the reward is close to the highest any sample got, so nearly all samples get the same",
    )


def _batch_scaled_ties(facts: Known) -> Said:
    given = "rewards are scaled over the batch" if facts.certain else "scaling over the batch does that"
    return (
        "The share of groups without spread is only ever 0 or 1. That is normal here.",
        f"{given}: it is computed once for the whole batch and is no share of groups",
    )


def _ties_after_kl(facts: Share) -> Said:
    return (
        f"Only {percent(facts.share)} of the groups have no spread in reward. That proves little here.",
        "TRL's RLOO measures it after the KL penalty, which differs from sample to sample even where rewards are tied",
    )


def _sparse_evaluation(facts: SparseEvaluation) -> Said:
    return (
        f"`{facts.key}` has {facts.points} points, the reward {facts.reward_points}. That is normal.",
        "the policy is evaluated at irregular intervals; the steps between are absent, not zero",
    )


def _evaluated_before_training(facts: AtStep) -> Said:
    return (
        f"Step {facts.step} has an evaluation and no training metrics. That is normal.",
        "the untrained policy is evaluated first, as the baseline of the held-out reward",
    )


def _early_steps_missing(facts: AtStep) -> Said:
    return (
        f"The log begins at step {facts.step}. That is normal after a resume.",
        "this framework overwrites its log file when a run is resumed under the same name; a tracker may still hold "
        "the earlier steps",
    )


def _step_time_sawtooth(facts: EverySteps) -> Said:
    return (
        f"Every {facts.every}. step takes longer than the others. That is normal.",
        "TRL generates once for several updates, and only that step carries the generation time",
    )


def _sums_over_updates(facts: SummedKeys) -> Said:
    named = ", ".join(f"`{key}`" for key in facts.keys[:KEYS])
    given = (
        "how many a step has is not known"
        if facts.updates is None
        else f"they were divided by the {facts.updates:g} updates of a step"
    )
    return (
        f"{named} look large compared with other frameworks. That is normal.",
        f"NeMo RL sums them over the optimizer updates of a step; {given}",
    )


def _generation_is_waiting(_: Facts) -> Said:
    return (
        "Generation and training times do not add up to the step time. That is normal here.",
        "the trainer is asynchronous: samples are made while it trains, and its generation time is time spent waiting",
    )


def _warm_up(facts: AtStep) -> Said:
    return (
        "Little moves at first. That is normal here.",
        f"the learning rate warms up until step {facts.step}; updates before that are smaller",
    )


def _decaying_rate(facts: Share) -> Said:
    return (
        "Where progress slows late in the run, that is partly normal here.",
        f"the schedule has taken the learning rate down to {percent(facts.share)} of its peak",
    )


def _slow_first_step(facts: Ratio) -> Said:
    return (
        f"The first step took {facts.ratio:.1f} times as long as the others. That is normal.",
        "it compiles kernels, captures graphs and fills memory for the first time",
    )


def _val_is_not_validation(facts: OfKey) -> Said:
    return (
        f"`{facts.key}` is not a held-out score. That is normal here.",
        "in this framework val/ means the value function or a diagnostic of the batch, not validation",
    )


SENTENCES: dict[str, Callable[[Any], Said]] = {
    "expected.loss_near_zero": _loss_near_zero,
    "expected.negative_loss": _negative_loss,
    "expected.loss_is_kl": _loss_is_kl,
    "expected.clip_zero": _clip_zero,
    "expected.update_kl_zero": _update_kl_zero,
    "expected.advantages_about_zero": _advantages_about_zero,
    "expected.truncated_ratios": _truncated_ratios,
    "expected.explained_variance": _explained_variance,
    "expected.no_reference_kl": _no_reference_kl,
    "expected.kl_logged_as_zero": _kl_logged_as_zero,
    "expected.negative_kl": _negative_kl,
    "expected.negative_update_kl": _negative_update_kl,
    "expected.sawtooth_kl": _sawtooth_kl,
    "expected.kl_starts_at_zero": _kl_starts_at_zero,
    "expected.reward_after_kl": _reward_after_kl,
    "expected.filtered_reward": _filtered_reward,
    "expected.filtered_training_reward": _filtered_training_reward,
    "expected.normalised_reward": _normalised_reward,
    "expected.entropy_falls": _entropy_falls,
    "expected.binary_spread": _binary_spread,
    "expected.ties_when_solved": _ties_when_solved,
    "expected.solved_spread": _solved_spread,
    "expected.batch_scaled_ties": _batch_scaled_ties,
    "expected.ties_after_kl": _ties_after_kl,
    "expected.sparse_evaluation": _sparse_evaluation,
    "expected.evaluated_before_training": _evaluated_before_training,
    "expected.early_steps_missing": _early_steps_missing,
    "expected.step_time_sawtooth": _step_time_sawtooth,
    "expected.sums_over_updates": _sums_over_updates,
    "expected.generation_is_waiting": _generation_is_waiting,
    "expected.warm_up": _warm_up,
    "expected.decaying_rate": _decaying_rate,
    "expected.slow_first_step": _slow_first_step,
    "expected.val_is_not_validation": _val_is_not_validation,
}
