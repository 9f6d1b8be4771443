"""Whether a log is of another kind of training: supervised, preference or reward-model."""

from __future__ import annotations

from collections.abc import Iterable

from .guess import guess, words

PREFERENCE = {
    "rewards/chosen", "rewards/rejected", "rewards/margins", "rewards/accuracies", "logps/chosen", "logps/rejected",
}  # fmt: skip
ONLINE = {
    "objective/scores",
    "objective/rlhf_reward",
    "objective/kl",
    "val/contain_eos_token",
}  # of Online DPO, which is RL
REWARD_MODEL = {"margin", "min_reward", "max_reward", "mean_reward", "center_rewards", "accuracy"}
SUPERVISED = {
    "mean_token_accuracy", "token_accuracy", "perplexity", "ppl", "eval_perplexity", "train_perplexity", "bpb",
    "bits_per_byte",
}  # fmt: skip
TRAINED = {"learning_rate", "lr", "epoch", "grad_norm"}
LOSSES = {"loss", "train_loss", "training_loss", "eval_loss", "val_loss", "validation_loss", "test_loss", "lm_loss"}


def other_training(keys: Iterable[str]) -> str | None:
    """What kind of training these keys are of, when it is not reinforcement learning; None when it is, or unclear.

    >>> other_training(["loss", "learning_rate", "mean_token_accuracy"])
    'a supervised fine-tuning log'
    >>> other_training(["loss", "rewards/chosen", "rewards/margins"])
    'a preference-optimisation log (DPO or a relative of it)'
    >>> other_training(["loss", "reward", "kl"]) is None
    True
    """
    bare = {key.removeprefix("train/").removeprefix("eval/").removeprefix("eval_") for key in keys}
    if len(bare & PREFERENCE) >= 2 and not bare & ONLINE:
        return "a preference-optimisation log (DPO or a relative of it)"
    if "margin" in bare and len(bare & REWARD_MODEL) >= 3:
        return "a reward-model training log"
    if any(one.canonical.endswith("reward/mean") for one in guess(bare).values()):
        return None
    if any("reward" in key.lower() or "score" in key.lower() or "return" in key.lower() for key in bare):
        return None
    names = {words(key) for key in bare}
    if names & SUPERVISED:
        return "a supervised fine-tuning log"
    if any(word in name for name in names for word in ("kl", "policy", "actor", "advantage", "entropy")):
        return None
    if names & LOSSES and (len(names & LOSSES) > 1 or names & TRAINED):  # a loss alone may be anything
        return "a log with a loss and no reward, as supervised training writes it"
    return None
