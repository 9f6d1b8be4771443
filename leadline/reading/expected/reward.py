"""Odd but normal: rewards, groups and entropy."""

from __future__ import annotations

import re

import numpy as np

from ...facts import Facts
from ...facts.expected import EntropyFall, Known, OfKey, Share, TiesWhenSolved
from ...questions.bars import CLEARLY, EVEN, HABIT, SAID
from ...questions.level import level_now, start_of
from ...questions.way import net_change
from ...run import Values
from ..view import View
from .rule import Rule, correlation, finite, framework, paired

POLICY = ("reward.", "kl.", "generation.", "signal.", "stability.")  # findings about the policy: no good learning then
# What frameworks call dropping tied groups and sampling others instead, and how they say no.
FILTERS = re.compile(
    r"filter_groups(\.enable)?$|dynamic_sampl(e|ing)(\.(type|enabled?))?$|filter_zero_std|active_sampling$",
    re.IGNORECASE,
)
NO = (False, None, 0, "", "none", "None", "false", "False", "null")


def _scale(view: View) -> tuple[float, float] | None:
    """The lowest and the highest reward a sample got, from the log or from the samples kept."""
    run = view.run
    low, high = finite(run.get("reward/min")), finite(run.get("reward/max"))
    if len(low) and len(high) and low.min() < high.max():
        return float(low.min()), float(high.max())
    scores = _scores(view)
    return (float(scores.min()), float(scores.max())) if len(scores) and scores.min() < scores.max() else None


def _scores(view: View) -> Values:
    """Rewards of samples the sampler has looked at."""
    scores = np.array([sample.score for batch in view.batches for sample in batch.samples], dtype=np.float64)
    known: Values = scores[np.isfinite(scores)]
    return known


def _level(view: View) -> float | None:
    """Where the mean reward of the last tenth stands between the lowest and the highest reward: 0 to 1."""
    scale, mean = _scale(view), finite(view.run.get("reward/mean"))
    if scale is None or len(mean) < HABIT:
        return None
    late = float(np.median(mean[-max(len(mean) // 10, 1) :]))
    return (late - scale[0]) / (scale[1] - scale[0])


def _rose(view: View) -> bool:
    """Whether the reward surely stands higher than where it began."""
    reward = net_change(view.curve("reward/mean"))
    return reward is not None and reward.rose > SAID


def filtered_reward(view: View) -> Facts | None:
    found = next((series for series in view.run.series if series.name.startswith("reward/filtered")), None)
    if found is None or not found.finite.any():
        return None
    return OfKey(found.key)


def filtered_training_reward(view: View) -> Facts | None:
    """The settings drop tied groups and sample others instead, so the reward is that of what is left."""
    run, level, shape = view.run, _level(view), view.shape("reward/mean")
    if any(series.name.startswith("reward/filtered") for series in run.series) or shape is None or level is None:
        return None
    settings = [key for key, value in run.config.raw.items() if FILTERS.search(key) and value not in NO]
    if not settings or shape.word not in ("flat", "noise") or not 1 - CLEARLY < level < CLEARLY:
        return None
    return OfKey(settings[0])


def normalised_reward(view: View) -> Facts | None:
    series = view.run.get("reward/normalized_mean")
    values = finite(series)
    if series is None or not len(values):
        return None
    return OfKey(series.key)


def entropy_falls(view: View) -> Facts | None:
    logged, entropy, shape = view.run.get("entropy"), view.curve("entropy"), view.shape("reward/mean")
    if (
        logged is None
        or entropy is None
        or entropy.breaks
        or shape is None
        or shape.word in ("declining", "peaked", "noise", "undecided")
    ):
        return None
    change = net_change(entropy)
    if change is None or change.fell <= SAID or not _rose(view):
        return None
    start, now = start_of(entropy, logged), level_now(entropy, logged)
    return EntropyFall(start, now) if now < EVEN * start else None


def binary_spread(view: View) -> Facts | None:
    run = view.run
    scale, mean, std = _scale(view), run.get("reward/mean"), run.get("reward/std")
    if scale is None or mean is None or std is None or not _two_valued(view):
        return None
    level, spread = paired(mean, std)
    if len(level) < HABIT:
        return None
    within = np.sqrt(np.clip((level - scale[0]) * (scale[1] - level), 0, None))
    if correlation(within, spread) ** 2 < EVEN:
        return None
    late = max(len(spread) // 10, 1)
    if np.median(spread[-late:]) > EVEN * spread.max() or not _rose(view):
        return None
    return Facts()


def _two_valued(view: View) -> bool:
    run, scores = view.run, _scores(view)
    if len(scores):
        return len(np.unique(scores)) == 2
    low, high = finite(run.get("reward/min")), finite(run.get("reward/max"))
    ends = np.unique(np.concatenate([low, high]))
    return len(low) > 0 and len(high) > 0 and len(ends) == 2


def ties_when_solved(view: View) -> Facts | None:
    run = view.run
    tied = run.get("group/zero_std_frac")
    level = _level(view)
    values = finite(tied)
    if tied is None or len(values) < HABIT or level is None or level <= EVEN:
        return None
    tenth = max(len(values) // 10, 1)
    early, late = float(np.median(values[:tenth])), float(np.median(values[-tenth:]))
    if late <= early or not _rose(view):
        return None
    return TiesWhenSolved(early, late, level)


def solved_spread(view: View) -> Facts | None:
    level, std = _level(view), finite(view.run.get("reward/std"))
    if level is None or level <= CLEARLY or len(std) < HABIT or _two_valued(view):
        return None
    tenth = max(len(std) // 10, 1)
    if np.median(std[-tenth:]) > EVEN * std.max():
        return None
    return Facts()


def batch_scaled_ties(view: View) -> Facts | None:
    values = finite(view.run.get("group/zero_std_frac"))
    scaled = str(view.run.config.raw.get("scale_rewards", ""))
    if len(values) < HABIT or not np.isin(values, (0.0, 1.0)).all() or not framework(view.run).startswith("trl"):
        return None
    if scaled != "batch" and len(np.unique(values)) < 2:
        return None
    return Known(certain=scaled == "batch")


def ties_after_kl(view: View) -> Facts | None:
    run = view.run
    shares = finite(run.get("group/zero_std_frac"))
    if framework(run) != "trl-rloo" or not len(shares) or not run.config.kl_coefficient:
        return None
    now = float(np.median(shares[-max(len(shares) // 10, 1) :]))
    return Share(now) if now < EVEN else None


SAME = ("signal.no_learning_signal",)  # tells of tied groups itself

RULES = (
    Rule("expected.filtered_reward", filtered_reward, topic="filtered"),
    Rule("expected.filtered_training_reward", filtered_training_reward, topic="filtered"),
    Rule("expected.normalised_reward", normalised_reward),
    Rule("expected.entropy_falls", entropy_falls, unless=POLICY),
    Rule("expected.ties_when_solved", ties_when_solved, unless=POLICY, told_by=SAME, topic="spread"),
    Rule("expected.binary_spread", binary_spread, unless=POLICY, told_by=SAME, topic="spread"),
    Rule("expected.solved_spread", solved_spread, unless=POLICY, told_by=SAME, topic="spread"),
    Rule("expected.batch_scaled_ties", batch_scaled_ties),
    Rule("expected.ties_after_kl", ties_after_kl),
)
