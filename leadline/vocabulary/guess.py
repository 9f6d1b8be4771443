"""What a key of an unknown loop probably means, said as a guess.

Only names that can hardly mean anything else are taken, and only one key for each meaning. Whose KL a `kl` is cannot be
told from its name: it is listed as a KL and read as none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from . import Meaning

RANK = 1_000_000  # after everything a dialect knows

HELD_OUT = {"eval", "evaluation", "val", "valid", "validation", "test", "heldout", "holdout", "dev"}
# Words that make of a reward something else than the headline: its spread, a part of it, what was done to it.
NOT_THE_HEADLINE = {
    "std", "var", "variance", "min", "max", "median", "p10", "p90", "sum", "count", "n", "num", "best", "ema",
    "smoothed", "baseline", "model", "kl", "clip", "clipped", "norm", "normalized", "normalised", "adv", "advantage",
    "format", "length", "len", "penalty", "weight", "coef", "scale", "target", "threshold", "loss", "fn", "func",
    "filtered", "positive", "negative", "pos", "neg", "correct", "wrong", "component", "fraction", "frac", "rate",
    "time", "zero", "q", "value", "shaped", "bonus", "delta", "diff", "gap", "hist", "group", "groups", "per", "old",
    "prev", "final",
}  # fmt: skip
# The first pattern that fits some key takes the meaning. Words are joined by single underscores.
LIKELY: tuple[tuple[str, str, str], ...] = (
    ("reward/std", r"rewards?_std|std_rewards?|rewards?_std_mean", "spread of the reward"),
    ("loss/policy", r"(policy|pg|actor|policy_gradient)_loss|loss_(policy|pg|actor)", "policy loss"),
    ("loss/value", r"(value|vf|critic|v)_loss|loss_(value|vf|critic)", "value loss"),
    ("loss/total", r"(train(ing)?_)?(total_)?loss(es)?(_(mean|avg|total))?|grpo_loss|ppo_loss", "training loss"),
    ("entropy", r"((policy|actor|token|mean|avg)_)*entropy(_(mean|avg))?", "policy entropy, sign not checked"),
    ("grad_norm", r"((train|actor|policy|total)_)?grad(ient)?_norm(_(mean|avg))?", "gradient norm"),
    ("lr", r"((train|actor|policy|current)_)?(lr|learning_rate)", "learning rate"),
    (
        "len/response_mean",
        r"((mean|avg|average)_)?(response|completion|output|gen|generation|resp)s?_(len|length|tokens)s?(_(mean|avg))?"
        r"|(mean|avg|average)_(len|length|tokens)",
        "length of a response",
    ),
    (
        "clip/frac",
        r"((policy|pg|ppo|actor)_)?clip_?(frac|fraction)(_(mean|avg))?|pg_clipfrac",
        "share of clipped ratios",
    ),
    (
        "time/step",
        r"(step|iter|iteration|update|batch)_time(_s|_sec|_seconds)?|time_(per|this)_(step|iter)(_s)?",
        "step time",
    ),
    (
        "reward/accuracy",
        r"((train|batch|mean|avg)_)*(accuracy|accuracies|acc|success_rate|solve_rate|pass_rate)(_(mean|avg))?",
        "training accuracy",
    ),
)
KL = re.compile(r"(.+_)?(kl|kld|kl_div|kl_divergence|approx_kl)(_(mean|avg|loss|penalty|div))?")
REWARDS: tuple[str, ...] = (  # the plainest name first
    r"(train_)?(mean|avg|average)_rewards?|(train_)?rewards?_(mean|avg|average)|rewards?_(mean|avg)_(mean|avg)",
    r"((train|training|total|episode|batch|task|raw|overall|combined|env)_)*rewards?(_total)?",
    r"((mean|avg|average|episode|episodic|ep)_)+(rew|rewards?|returns?)(_(mean|avg))?|(episodic|ep|episode|mean|avg)_return(_mean)?|return_mean|ep_rew_mean",
    r"((mean|avg|average|train|total)_)*scores?(_(mean|avg))?",
)


def guess(keys: Iterable[str]) -> dict[str, Meaning]:
    """The likely meaning of some of these keys; the others stay unknown.

    >>> found = guess(["mean_reward", "std_reward", "kl", "bank_size"])
    >>> [(key, meaning.canonical) for key, meaning in found.items()]
    [('mean_reward', 'reward/mean'), ('std_reward', 'reward/std'), ('kl', 'kl/unidentified')]
    >>> found["mean_reward"].kind
    'guess: training reward'
    """
    names = {key: words(key) for key in sorted(keys)}
    training = {key: name for key, name in names.items() if not HELD_OUT & set(name.split("_"))}
    held_out = {key: name for key, name in names.items() if key not in training}
    found: dict[str, Meaning] = {}
    if reward := _headline(training):
        found[reward] = _guess("reward/mean", "training reward")
    for canonical, pattern, says in LIKELY:
        key = next((key for key, name in training.items() if key not in found and re.fullmatch(pattern, name)), None)
        if key is not None:
            found[key] = _guess(canonical, says)
    stripped = {
        key: "_".join(word for word in name.split("_") if word not in HELD_OUT) for key, name in held_out.items()
    }
    if reward := _headline(stripped):
        found[reward] = _guess("eval/reward/mean", "held-out reward")
    accuracy = LIKELY[-1][1]
    if key := next((key for key, name in stripped.items() if key not in found and re.fullmatch(accuracy, name)), None):
        found[key] = _guess("eval/acc/mean", "held-out accuracy")
    for key, name in training.items():
        if key not in found and KL.fullmatch(name):
            found[key] = _guess("kl/unidentified", "a KL, between what and what the log does not say")
    return found


def _headline(names: dict[str, str]) -> str | None:
    """The key that is most plainly the reward as such."""
    for pattern in REWARDS:
        for key, name in names.items():
            if re.fullmatch(pattern, name) and not NOT_THE_HEADLINE & (set(name.split("_")) - {"total"}):
                return key
    return None


def _guess(canonical: str, says: str) -> Meaning:
    return Meaning(canonical, f"guess: {says}", RANK)


def words(key: str) -> str:
    """A key as words joined by underscores: case, slashes and camel humps do not matter.

    >>> words("Train/MeanReward"), words("iter_time_s"), words("rewards / check_answer")
    ('train_mean_reward', 'iter_time_s', 'rewards_check_answer')
    """
    humps = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key)
    return re.sub(r"[^a-z0-9]+", "_", humps.lower()).strip("_")
