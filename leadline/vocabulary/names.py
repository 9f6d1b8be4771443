"""A key as the words it is made of: case, separators and words that were glued together do not matter."""

from __future__ import annotations

import re
from collections import Counter
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
RETURN = re.compile(r"(?<![A-Za-z0-9])R(?![A-Za-z0-9@²])")  # as textbooks write it: mean_R_code
# What metrics and counts are called where keys are written in another script, the longer words first.
SCRIPTS = {
    "平均": "mean", "均值": "mean", "最大": "max", "最小": "min", "标准差": "std", "奖励": "reward", "回报": "return",
    "得分": "score", "分数": "score", "损失": "loss", "准确率": "accuracy", "正确率": "accuracy",
    "成功率": "success rate", "胜率": "win rate", "学习率": "learning rate", "梯度范数": "grad norm", "熵": "entropy",
    "散度": "divergence", "长度": "length", "验证": "eval", "测试": "eval", "评估": "eval", "训练": "train",
    "策略": "policy", "价值": "value", "总": "total", "步数": "step", "步骤": "step", "步": "step",
    "迭代": "iteration", "轮次": "epoch", "回合": "episode", "轮": "round", "報酬": "reward", "損失": "loss",
    "ステップ": "step", "보상": "reward", "손실": "loss", "스텝": "step", "평균": "mean", "награда": "reward",
    "потери": "loss", "шаг": "step", "средняя": "mean", "récompense": "reward", "étape": "step",
}  # fmt: skip
WIDE = str.maketrans("：，；（）＝％", ":,;()=%")
ORDINAL = re.compile(r"第\s*([\d/]+)\s*([^\W\d_a-zA-Z]+)")  # "第 12/400 步": the count stands before what it counts
SCRIPT = re.compile("|".join(SCRIPTS), re.IGNORECASE)
IN_SCRIPT = re.compile(f"(?:{SCRIPT.pattern})+", re.IGNORECASE)
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
    "resps": "response", "generations": "generation", "prompts": "prompt", "questions": "question", "inputs": "input",
    "wins": "win", "corrects": "correct", "correctness": "correct", "smoothed": "smooth", "moving": "smooth",
    "belohnung": "reward", "recompensa": "reward", "verlust": "loss", "perdida": "loss", "schritt": "step",
    "paso": "step", "mittlere": "mean", "durchschnitt": "mean", "genauigkeit": "accuracy", "lernrate": "lr",
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
    key = key if key.isascii() else english(key)
    return OTHER.sub("_", HUMP.sub("_", UNIT.sub("", key)).lower()).strip("_")


def english(text: str) -> str:
    """Return a text with the words for metrics and counts in English.

    >>> english("第 3/40 步：平均奖励: 0.4"), words("KL散度")
    (' step 3/40: mean reward : 0.4', 'kl_divergence')
    """
    text = ORDINAL.sub(r"\2\1", text.translate(WIDE))
    return IN_SCRIPT.sub(lambda told: f" {' '.join(SCRIPTS[word.lower()] for word in SCRIPT.findall(told[0]))} ", text)


@lru_cache(maxsize=8192)
def tokens(key: str) -> tuple[str, ...]:
    """The words of a key, each as it is usually spelled, glued ones apart.

    >>> tokens("eprewmean"), tokens("rollout_info/ep_rew"), tokens("Average Rewards")
    (('episode', 'reward', 'mean'), ('rollout', 'info', 'episode', 'reward'), ('mean', 'reward'))
    """
    parts = [part for word in words(RETURN.sub("reward", key)).split("_") if word for part in _unglued(word)]
    if {*parts} <= {"r", "mean", "avg", "ep"}:
        parts = ["reward" if part == "r" else part for part in parts]  # as textbooks write it
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


def prefixes(keys: Iterable[str]) -> list[str]:
    """Return what stands before keys and their separator, such as the name of a run, a worker or a section: before most
    of them first.

    >>> prefixes(["run7/reward", "run7/actor/loss", "run7/kl"]), prefixes(["train/reward", "lr"])
    (['run7/'], [])
    """
    heads = Counter(match[0] for key in keys if (match := HEAD.match(key)))
    return [head for head, count in heads.most_common() if count >= FEWEST]
