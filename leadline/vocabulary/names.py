"""A key as the words it is made of: case, separators and words that were glued together do not matter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What a number is counted in, behind its name: time [s], response length (tokens), KL [nats].
UNIT = re.compile(
    r"\s*[\[(]\s*(?:[a-zµ]?s|secs?|seconds?|mins?|minutes?|h|hours?|tok(?:en)?s?|steps?|nats?|bits?|[kmgt]i?b|bytes?|w"
    r"|watts?|%|percent|a\.?u\.?|1|(?:it|tok(?:en)?s?|samples?)/s(?:ec)?)\s*[\])]\s*$",
    re.IGNORECASE,
)
OTHER = re.compile(r"[^a-z0-9]+")
HEAD = re.compile(r"[^/.:|]+?(?:/|\.|:| - )")
FEWEST = 3  # keys that have to share a prefix
SHORTEST_GLUED = 5  # letters of a word that may be several
# What people shorten or inflect, and the word it stands for.
SPELLINGS = {
    "rewards": "reward", "rew": "reward", "rews": "reward", "returns": "return", "ret": "return", "rets": "return",
    "scores": "score", "avg": "mean", "average": "mean", "averaged": "mean", "acc": "accuracy",
    "accuracies": "accuracy", "ep": "episode", "episodes": "episode", "episodic": "episode",
    "len": "length", "lens": "length", "lengths": "length", "stdev": "std", "stddev": "std", "sd": "std",
    "variance": "var", "minimum": "min", "maximum": "max", "evaluation": "eval", "evals": "eval",
    "validation": "eval", "val": "eval", "test": "eval", "testing": "eval", "heldout": "eval",
    "holdout": "eval", "held": "eval", "dev": "eval", "training": "train", "trainer": "train", "gradient": "grad",
    "losses": "loss", "lr": "lr", "kld": "kl", "div": "divergence", "completions": "completion", "tok": "token",
    "tokens": "token", "toks": "token", "responses": "response", "resp": "response", "rollouts": "rollout",
    "gen": "generation", "generated": "generation", "outputs": "output", "fraction": "frac", "iterations": "iteration",
    "iter": "iteration", "iters": "iteration", "steps": "step", "updates": "update", "batches": "batch",
    "environment": "env", "environments": "env", "successes": "success", "solved": "solve", "passed": "pass",
    "wins": "win", "corrects": "correct", "correctness": "correct", "smoothed": "smooth", "moving": "smooth",
    "rolling": "smooth", "running": "smooth", "ema": "smooth", "ewma": "smooth", "secs": "seconds", "sec": "seconds",
}  # fmt: skip
# Words that may be glued to others: eprewmean, approxkl, gradnorm, totaltimesteps.
GLUED = {
    "ep", "episode", "rew", "reward", "rewards", "ret", "return", "returns", "score", "mean", "avg", "average", "std",
    "min", "max", "len", "length", "approx", "kl", "clip", "frac", "grad", "norm", "policy", "value", "loss", "total",
    "time", "timesteps", "timestep", "step", "steps", "num", "global", "train", "eval", "test", "entropy", "iter",
    "iteration", "update", "updates", "batch", "accuracy", "success", "rate", "lr", "token", "tokens", "response",
    "completion", "count",
}  # fmt: skip


def words(key: str) -> str:
    """A key as words joined by underscores: case, slashes and camel humps do not matter.

    >>> words("Response Length (tokens)"), words("reward (eval)")
    ('response_length', 'reward_eval')
    >>> words("Train/MeanReward"), words("iter_time_s"), words("rewards / check_answer"), words("AverageEpRet")
    ('train_mean_reward', 'iter_time_s', 'rewards_check_answer', 'average_ep_ret')
    """
    return OTHER.sub("_", HUMP.sub("_", UNIT.sub("", key)).lower()).strip("_")


@lru_cache(maxsize=8192)
def tokens(key: str) -> tuple[str, ...]:
    """The words of a key, each as it is usually spelled, glued ones apart.

    >>> tokens("eprewmean"), tokens("rollout_info/ep_rew"), tokens("Average Rewards")
    (('episode', 'reward', 'mean'), ('rollout', 'info', 'episode', 'reward'), ('mean', 'reward'))
    """
    parts = [part for word in words(key).split("_") if word for part in _unglued(word)]
    return tuple(SPELLINGS.get(part, part) for part in parts)


def _unglued(word: str) -> tuple[str, ...]:
    """The words that were written without a gap; the word itself where it is none of that kind."""
    if len(word) < SHORTEST_GLUED or word in SPELLINGS or word in GLUED:
        return (word,)
    ways: list[tuple[str, ...] | None] = [()] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - 9), end):
            before = ways[start]
            if before is not None and word[start:end] in GLUED:
                longer = (*before, word[start:end])
                if ways[end] is None or len(longer) < len(ways[end] or ()):
                    ways[end] = longer
    return ways[-1] or (word,)


def common_prefix(keys: Iterable[str]) -> str:
    """What stands before every key and its separator, such as the name of a run or a worker; "" where nothing does.

    >>> common_prefix(["run7/reward", "run7/actor/loss", "run7/kl"]), common_prefix(["train/reward", "lr"])
    ('run7/', '')
    """
    heads = [match[0] if (match := HEAD.match(key)) else "" for key in keys]
    return heads[0] if len(heads) >= FEWEST and len(set(heads)) == 1 else ""
