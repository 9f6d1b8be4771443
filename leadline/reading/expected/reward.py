"""Odd but normal: rewards, groups and entropy."""

from __future__ import annotations

import numpy as np

from ...facts import BAR
from ...run import Values
from ..view import View
from .rule import Rule, correlation, finite, framework, paired

FEWEST = 5  # points: fewer show no habit
AT_THE_TOP = 0.9  # of the way from the least to the highest reward: most samples are right
SOLVED_MOST = 0.5  # of that way: more samples are right than wrong
POLICY = ("reward.", "kl.", "generation.", "signal.", "stability.")  # findings about the policy: no good learning then
NARROWED = 0.5  # of its own widest: a spread that has halved
TWO_VALUED_FIT = 0.5  # squared correlation of a spread with that of right/wrong rewards: less is another spread


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
    if scale is None or len(mean) < FEWEST:
        return None
    late = float(np.median(mean[-max(len(mean) // 10, 1) :]))
    return (late - scale[0]) / (scale[1] - scale[0])


def _has_moved(view: View, name: str, sign: float) -> float:
    """Share of paths that ended beyond where they began, by more than the noise of a bin."""
    curve = view.curve(name)
    if curve is None or not curve.decidable:
        return 0.0
    return float(np.mean(sign * (curve.seen[:, -1] - curve.seen[:, 0]) > curve.last.noise))


def filtered_reward(view: View) -> tuple[str, str] | None:
    found = next((one for one in view.run.series if one.name.startswith("reward/filtered")), None)
    if found is None or not found.finite.any():
        return None
    return f"`{found.key}` stays mid-range whatever the policy learns. That is normal.", (
        "groups that were all right or all wrong are dropped before it is taken; the trend is in the unfiltered reward"
    )


def normalised_reward(view: View) -> tuple[str, str] | None:
    series = view.run.get("reward/normalized_mean")
    values = finite(series)
    if series is None or not len(values):
        return None
    return f"`{series.key}` is about 0 throughout. That is normal.", (
        "it is the reward after normalisation within groups; the task's own reward is another key"
    )


def entropy_falls(view: View) -> tuple[str, str] | None:
    if view.run.get("entropy") is None or view.run.get("reward/mean") is None:
        return None
    entropy, shape = view.curve("entropy"), view.shape("reward/mean")
    if (
        entropy is None
        or entropy.breaks
        or shape is None
        or shape.word in ("declining", "peaked", "noise", "undecided")
    ):
        return None
    if _has_moved(view, "entropy", -1.0) <= BAR or _has_moved(view, "reward/mean", 1.0) <= BAR:
        return None
    return "Entropy has fallen while reward rose. That is normal.", (
        "a policy that finds what works becomes surer; it is a worry where entropy falls and reward does not rise"
    )


def binary_spread(view: View) -> tuple[str, str] | None:
    run = view.run
    scale, mean, std = _scale(view), run.get("reward/mean"), run.get("reward/std")
    if scale is None or mean is None or std is None or not _two_valued(view):
        return None
    level, spread = paired(mean, std)
    if len(level) < FEWEST:
        return None
    within = np.sqrt(np.clip((level - scale[0]) * (scale[1] - level), 0, None))
    if correlation(within, spread) ** 2 < TWO_VALUED_FIT:
        return None
    late = max(len(spread) // 10, 1)
    if np.median(spread[-late:]) > NARROWED * spread.max() or _has_moved(view, "reward/mean", 1.0) <= BAR:
        return None
    return "The spread of rewards has shrunk as reward rose. That is normal here.", (
        "rewards are right or wrong: their spread is sqrt(p(1-p)) and vanishes as nearly all are right"
    )


def _two_valued(view: View) -> bool:
    run, scores = view.run, _scores(view)
    if len(scores):
        return len(np.unique(scores)) == 2
    low, high = finite(run.get("reward/min")), finite(run.get("reward/max"))
    ends = np.unique(np.concatenate([low, high]))
    return len(low) > 0 and len(high) > 0 and len(ends) == 2


def ties_when_solved(view: View) -> tuple[str, str] | None:
    run = view.run
    tied = run.get("group/zero_std_frac")
    level = _level(view)
    values = finite(tied)
    if tied is None or len(values) < FEWEST or level is None or level <= SOLVED_MOST:
        return None
    tenth = max(len(values) // 10, 1)
    if np.median(values[-tenth:]) <= np.median(values[:tenth]) or _has_moved(view, "reward/mean", 1.0) <= BAR:
        return None
    return "More and more groups have no spread in reward. That is normal here.", (
        "most prompts get full reward, so all samples of a group are tied; what is left to learn gets less"
    )


def solved_spread(view: View) -> tuple[str, str] | None:
    level, std = _level(view), finite(view.run.get("reward/std"))
    if level is None or level <= AT_THE_TOP or len(std) < FEWEST or _two_valued(view):
        return None
    tenth = max(len(std) // 10, 1)
    if np.median(std[-tenth:]) > NARROWED * std.max():
        return None
    return "The spread of rewards is near zero. That is normal here.", (
        "the reward is close to the highest any sample was given: nearly every sample gets it"
    )


def batch_scaled_ties(view: View) -> tuple[str, str] | None:
    values = finite(view.run.get("group/zero_std_frac"))
    scaled = str(view.run.config.raw.get("scale_rewards", ""))
    if len(values) < FEWEST or not np.isin(values, (0.0, 1.0)).all() or not framework(view.run).startswith("trl"):
        return None
    if scaled != "batch" and len(np.unique(values)) < 2:
        return None
    told = "rewards are scaled over the batch" if scaled == "batch" else "scaling over the batch gives just that"
    return "The share of groups without spread is only ever 0 or 1. That is normal here.", (
        f"{told}: it is computed once for the whole batch and is no share of groups"
    )


def ties_after_kl(view: View) -> tuple[str, str] | None:
    run = view.run
    if framework(run) != "trl-rloo" or not len(finite(run.get("group/zero_std_frac"))) or not run.config.kl_coefficient:
        return None
    return "The share of groups without spread is low. That proves little here.", (
        "TRL's RLOO measures it after the KL penalty, which differs from sample to sample even where rewards are tied"
    )


RULES = (
    Rule("expected.filtered_reward", "a reward/filtered series", filtered_reward),
    Rule("expected.normalised_reward", "a reward/normalized series", normalised_reward),
    Rule(
        "expected.entropy_falls",
        "entropy down without a break, reward up and not declining",
        entropy_falls,
        unless=POLICY,
    ),
    Rule(
        "expected.binary_spread",
        "two-valued rewards, spread follows sqrt(p(1-p)) and has halved, reward up",
        binary_spread,
        unless=POLICY,
    ),
    Rule(
        "expected.ties_when_solved",
        "more tied groups, reward up and past the middle of its scale",
        ties_when_solved,
        unless=POLICY,
    ),
    Rule("expected.solved_spread", "reward at the top of its scale, spread has halved", solved_spread, unless=POLICY),
    Rule("expected.batch_scaled_ties", "TRL, zero_std_frac only 0 or 1", batch_scaled_ties),
    Rule("expected.ties_after_kl", "TRL RLOO with a KL penalty", ties_after_kl),
)
