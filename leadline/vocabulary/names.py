"""A key as the words it is made of: case, separators and words that were glued together do not matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

WORDS = Path(__file__).with_name("words.tsv")


@cache
def _rows() -> tuple[tuple[str, str, str, str], ...]:
    lines = WORDS.read_text(encoding="utf-8").splitlines()[1:]
    return tuple((table, means, said, says) for table, means, said, says in (line.split("\t") for line in lines))


def listed(table: str) -> dict[str, str]:
    """Return the words of one table of words.tsv, and what each means."""
    return {word: means for name, means, said, _ in _rows() if name == table for word in said.split()}


def patterns(table: str) -> tuple[tuple[str, str, str], ...]:
    """Return the rows of a table in which a pattern stands for the words: what it means, itself, and what is said."""
    return tuple((means, said, says) for name, means, said, says in _rows() if name == table)


HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What a number is counted in, behind its name: time [s], response length (tokens), KL [nats].
UNIT = re.compile(
    r"\s*[\[(]\s*(?:[a-zµ]?s|secs?|seconds?|mins?|minutes?|h|hours?|tok(?:en)?s?|steps?|nats?|bits?|[kmgt]i?b|bytes?|w"
    r"|watts?|%|percent|a\.?u\.?|1|(?:it|tok(?:en)?s?|samples?)/s(?:ec)?)\s*[\])]\s*$",
    re.IGNORECASE,
)
OTHER = re.compile(r"[^a-z0-9]+")
RETURN = re.compile(r"(?<![A-Za-z0-9])R(?![A-Za-z0-9@²])")  # as textbooks write it: mean_R_code
# What metrics and counts are called where keys are written in another script.
SCRIPTS = listed("script")
WIDE = str.maketrans("：，；（）＝％", ":,;()=%")
ORDINAL = re.compile(r"第\s*([\d/]+)\s*([^\W\d_a-zA-Z]+)")  # "第 12/400 步": the count stands before what it counts
SCRIPT = "|".join(sorted(SCRIPTS, key=len, reverse=True))  # few runs need it, which have it compiled
HEAD = re.compile(r"[^/.:|]+?(?:/|\.|:| - )")
FEWEST = 3  # keys that have to share a prefix
SHORTEST_GLUED = 5  # letters of a word that may be several
SPELLINGS = listed("spelling")  # what people shorten or inflect, and the word it stands for
GLUED = {*listed("glued")}  # words that may be glued to others: eprewmean, approxkl, gradnorm, totaltimesteps


@lru_cache(maxsize=8192)
def words(key: str) -> str:
    """Return a key as words joined by underscores: case, slashes and camel humps do not matter.

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
    word = re.compile(SCRIPT, re.IGNORECASE)
    in_script = re.compile(f"(?:{SCRIPT})+", re.IGNORECASE)
    return in_script.sub(lambda told: f" {' '.join(SCRIPTS[one.lower()] for one in word.findall(told[0]))} ", text)


@lru_cache(maxsize=8192)
def tokens(key: str) -> tuple[str, ...]:
    """Return the words of a key, each as it is usually spelled, glued ones apart.

    >>> tokens("eprewmean"), tokens("rollout_info/ep_rew"), tokens("Average Rewards")
    (('episode', 'reward', 'mean'), ('rollout', 'info', 'episode', 'reward'), ('mean', 'reward'))
    """
    parts = [part for word in words(RETURN.sub("reward", key)).split("_") if word for part in _unglued(word)]
    if {*parts} <= {"r", "mean", "avg", "ep"}:
        parts = ["reward" if part == "r" else part for part in parts]  # as textbooks write it
    return tuple(SPELLINGS.get(part, part) for part in parts)


def _unglued(word: str) -> tuple[str, ...]:
    """Return the words that were written without a gap; the word itself where it is none of that kind."""
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
