"""Odd but normal: rewards, groups and entropy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..facts import Facts
from ..facts.expected import Expected
from ..questions.bars import EVEN, HABIT, SAID
from ..questions.level import level_now, start_of
from ..questions.way import net_change
from ..reading.view import View
from ..words.numbers import percent, went
from .rule import Rule, finite

POLICY = ("reward.", "kl.", "generation.", "signal.", "stability.")  # findings about the policy: no good learning then


@dataclass(frozen=True, slots=True)
class OfKey(Facts):
    key: str  # as the log calls it


def filtered_reward(view: View) -> Expected | None:
    found = next((series for series in view.run.series if series.name.startswith("reward/filtered")), None)
    if found is None or not found.finite.any():
        return None
    return Expected(
        "expected.filtered_reward",
        OfKey(found.key),
        f"`{found.key}` stays mid-range whatever the policy learns.",
        "all-correct and all-wrong groups are dropped first, so a flat curve means nothing; the unfiltered reward has "
        "the trend",
    )


def normalised_reward(view: View) -> Expected | None:
    series = view.run.get("reward/normalized_mean")
    if series is None or not series.finite.any():
        return None
    return Expected(
        "expected.normalised_reward",
        OfKey(series.key),
        f"`{series.key}` stays near 0.",
        "it is the reward after normalization within groups; the raw reward is another key",
    )


@dataclass(frozen=True, slots=True)
class EntropyFall(Facts):
    start: float
    now: float


def entropy_falls(view: View) -> Expected | None:
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
    if now >= EVEN * start:
        return None
    return Expected(
        "expected.entropy_falls",
        EntropyFall(start, now),
        f"Entropy dropped {went(start, now)} while reward rose.",
        "a policy that learns becomes more certain; worry only if reward does not rise",
    )


@dataclass(frozen=True, slots=True)
class TiesWhenSolved(Facts):
    """Shares of groups without spread, and where the mean reward stands between the lowest and the highest seen."""

    tied_at_start: float
    tied: float
    reward_level: float  # 0 to 1


def ties_when_solved(view: View) -> Expected | None:
    values, level = finite(view.run.get("group/zero_std_frac")), _level(view)
    if len(values) < HABIT or level is None or level <= EVEN:
        return None
    tenth = max(len(values) // 10, 1)
    early, late = float(np.median(values[:tenth])), float(np.median(values[-tenth:]))
    if late <= early or not _rose(view):
        return None
    return Expected(
        "expected.ties_when_solved",
        TiesWhenSolved(early, late, level),
        f"{percent(late)} zero-variance groups ({percent(early)} at the start).",
        f"mean reward is at {percent(level)} of its range, so more groups are fully correct; they leave less gradient "
        "signal",
    )


def _level(view: View) -> float | None:
    """Where the mean reward of the last tenth stands between the lowest and the highest reward: 0 to 1."""
    scale, mean = _scale(view), finite(view.run.get("reward/mean"))
    if scale is None or len(mean) < HABIT:
        return None
    late = float(np.median(mean[-max(len(mean) // 10, 1) :]))
    return (late - scale[0]) / (scale[1] - scale[0])


def _scale(view: View) -> tuple[float, float] | None:
    """The lowest and the highest reward a sample got, from the log or from the samples the sampler has looked at."""
    low, high = finite(view.run.get("reward/min")), finite(view.run.get("reward/max"))
    if not len(low) or not len(high) or low.min() >= high.max():
        scores = np.array([sample.score for batch in view.batches for sample in batch.samples], dtype=np.float64)
        low = high = scores[np.isfinite(scores)]
    return (float(low.min()), float(high.max())) if len(low) and low.min() < high.max() else None


def _rose(view: View) -> bool:
    """Whether the reward surely stands higher than where it began."""
    reward = net_change(view.curve("reward/mean"))
    return reward is not None and reward.rose > SAID


RULES = (
    Rule(filtered_reward),
    Rule(normalised_reward),
    Rule(entropy_falls, unless=POLICY),
    Rule(ties_when_solved, unless=POLICY, told_by=("signal.no_learning_signal",)),
)
