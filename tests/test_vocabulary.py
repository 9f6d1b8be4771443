"""What keys mean."""

from __future__ import annotations

import re

import pytest

from leadline.vocabulary import SIGNS, TURNED, detect, dialects, families, translate
from leadline.vocabulary.guess import by_words, other_training
from leadline.vocabulary.rules import RULES


@pytest.mark.parametrize("family", families())
def test_every_row_of_a_dialect_can_be_used(family: str) -> None:
    for entry in families()[family]:
        assert entry.canonical
        assert entry.signature in ("", *SIGNS)
        assert entry.rule in ("", *RULES)
        groups = set(re.findall(r"<(\w+)>", entry.canonical))
        if entry.key.startswith("^"):
            assert groups <= set(re.compile(entry.key).groupindex), f"{entry.key} has no group for {entry.canonical}"
        else:
            assert not groups
            meaning = translate(entry.key, entry.dialect)
            assert meaning is not None
            before, after = TURNED.get(entry.rule, ("", ""))
            assert meaning.canonical == re.sub(f"{before}$" if before else "$^", after, entry.canonical)
            assert meaning.rule == entry.rule


@pytest.mark.parametrize("family", families())
def test_no_dialect_gives_a_key_twice(family: str) -> None:
    keys = [(entry.dialect, entry.key) for entry in families()[family]]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("key", "dialect", "canonical"),
    [
        ("kl", "trl-grpo", "kl/ref"),
        ("kl", "trl-rloo", "kl/ref"),
        ("kl", "trl-asyncgrpo", "kl/update"),
        ("objective/kl", "trl-ppo", "kl/ref_seq_sum"),
        ("learning_rate", "trl-rloo", "lr"),
        ("rewards/accuracy/mean", "trl-grpo", "reward/component/accuracy/mean"),
        ("rewards/accuracy", "trl-grpo", "reward/component/accuracy/mean"),
        ("rewards/chosen", "trl-onlinedpo", "dpo/implicit_reward_chosen"),
        ("eval_reward", "trl-grpo", "eval/reward/mean"),
        ("eval_rewards/accuracy/mean", "trl-grpo", "eval/reward/component/accuracy/mean"),
        ("eval_runtime", "trl-grpo", "time/eval"),
        ("train/reward", "trl-grpo", "reward/mean"),
        ("critic/score/mean", "verl", "reward/mean"),
        ("critic/rewards/mean", "verl", "reward/after_kl_mean"),
        ("val-core/openai/gsm8k/acc/mean@8", "verl", "eval/openai/gsm8k/acc/mean@8"),
        ("mismatch/k3_kl", "verl", "mismatch/kl_k3"),
    ],
)
def test_key_means(key: str, dialect: str, canonical: str) -> None:
    meaning = translate(key, dialect)
    assert meaning is not None
    assert meaning.canonical == canonical


@pytest.mark.parametrize("key", ["nonsense", "eval_nonsense", "train/nonsense", ""])
def test_a_key_nobody_told_us_means_nothing(key: str) -> None:
    assert translate(key, "trl-grpo") is None


def test_a_kind_tells_estimators_apart() -> None:
    grpo, rloo = translate("kl", "trl-grpo"), translate("kl", "trl-rloo")
    assert grpo is not None
    assert rloo is not None
    assert "k3" in grpo.kind
    assert "k1" in rloo.kind
    unsure = translate("kl", "trl")
    assert unsure is not None
    assert (unsure.canonical, "k1" in unsure.kind, "k3" in unsure.kind) == ("kl/ref", False, False)


@pytest.mark.parametrize(
    ("keys", "algorithm", "dialect"),
    [
        (["loss", "reward", "kl"], None, "trl"),  # RLOO's keys are the same, and its KL is another
        (["loss", "reward", "kl"], "grpo", "trl-grpo"),
        (["reward", "kl", "sampling/importance_sampling_ratio/mean"], None, "trl-grpo"),  # RLOO does not write that
        (["reward", "kl", "completion_length"], None, "trl-grpo"),  # nor this
        (["loss", "reward", "kl"], "rloo", "trl-rloo"),
        (["loss", "reward", "kl"], "ppo", "trl-grpo"),  # PPO has keys of its own; without them it is not TRL's PPO
        (["objective/kl", "policy/approxkl_avg"], None, "trl-ppo"),
        (["reward", "kl", "ratio"], "rloo", "trl-asyncgrpo"),
        (["eval_reward"], None, "trl"),
        (["learning_rate", "loss"], None, "hf-trainer"),
        (["speed"], "grpo", None),
        ([], None, None),
    ],
)
def test_a_dialect_of_trl_is_told_from_its_keys(keys: list[str], algorithm: str | None, dialect: str | None) -> None:
    assert detect(keys, algorithm=algorithm, family="trl") == dialect


@pytest.mark.parametrize(
    ("keys", "dialect"),
    [
        (["critic/score/mean"], "verl"),
        (["val-core/gsm8k/acc/mean@1"], "verl"),
        (["actor/pg_loss", "timing_s/step"], "verl"),
        (["critic/score/mean", "actor/pg_loss", "batch/solve_none"], "rllm"),
        (["frac_reward_zero_std", "reward"], "trl"),
        (["train/completions/mean_length", "train/reward"], "trl"),
        (["train/completions/mean_length", "train/sampling/importance_sampling_ratio/mean"], "trl-grpo"),
        (["train/timing/ppo_train", "train/reward"], "openrlhf"),
        (["timing/ppo_train", "reward", "policy_loss", "kl"], "openrlhf"),
        (["timing/train/total_step_time", "train/loss"], "nemo-rl"),
        (["train_rollouts/rewards", "train_optim/loss"], "nemo-aligner"),
        (["reward/avg_raw_reward", "policy/policy_loss"], "skyrl"),
        (["mismatch_kl/all/mean", "loss/mean"], "prime-rl"),
        (["rollout/raw_reward", "train/pg_loss"], "slime"),
        (["ppo_actor/task_reward/avg"], "areal"),
        (["system/tps_gpu", "critic/score/mean", "actor/pg_loss"], "roll"),
        (["val/rho_weight", "scores"], "open-instruct"),
        (["real_batch_size_ratio", "val/ratio", "loss/policy_avg"], "open-instruct"),
        (["rl_trainer/avg_loss"], "torchforge"),
        (["env/all/reward/total", "optim/lr"], "tinker-cookbook"),
        (["rollout/ep_rew_mean", "train/loss"], "sb3"),
        (["charts/episodic_return", "losses/policy_loss"], "cleanrl"),
        (["env_runners/episode_return_mean", "training_iteration"], "rllib"),
        (["loss", "grad_norm", "learning_rate", "epoch"], None),
        (["reward", "loss", "kl"], None),  # anybody's words
        (["system.gpu.0.powerWatts", "gpu.0.gpu"], None),  # what a machine did is no framework
        (["speed"], None),
        ([], None),
    ],
)
def test_a_framework_is_told_from_its_keys(keys: list[str], dialect: str | None) -> None:
    assert detect(keys) == dialect


def test_every_framework_of_the_atlas_has_a_dialect() -> None:
    known = {entry.dialect for entries in families().values() for entry in entries}
    assert known >= {
        "hf-trainer", "trl-grpo", "trl-rloo", "trl-ppo", "trl-onlinedpo", "trl-asyncgrpo", "unsloth", "verl",
        "openrlhf", "nemo-rl", "nemo-aligner", "skyrl", "prime-rl", "slime", "areal", "roll", "open-instruct", "rllm",
        "torchforge", "tinker-cookbook", "sb3", "cleanrl", "rllib",
    }  # fmt: skip
    assert sum(map(len, families().values())) >= 665


def test_a_key_that_stands_for_itself_without_end_means_nothing() -> None:
    assert translate("train/" * 500 + "reward", "trl-grpo") is None
    assert translate("clip_ratio/unheard_of", "unsloth") is None


@pytest.mark.parametrize(
    ("keys", "reward"),
    [
        (["mean_reward", "std_reward", "max_reward"], "mean_reward"),
        (["rewards_avg", "kl_avg"], "rewards_avg"),
        (["reward", "reward_std", "reward_format"], "reward"),
        (["train/MeanReward", "eval/MeanReward"], "train/MeanReward"),
        (["avg_return", "loss"], "avg_return"),
        (["episode_reward", "episode_length"], "episode_reward"),
        (["score/mean", "loss"], "score/mean"),
        (["reward_model_loss", "reward_penalty", "normalized_reward", "eval_reward", "reward_baseline"], None),
        (["loss", "lr"], None),
    ],
)
def test_a_reward_is_guessed_only_where_its_name_is_plain(keys: list[str], reward: str | None) -> None:
    found = [key for key, meaning in by_words(keys).meanings.items() if meaning.canonical == "reward/mean"]
    assert found == ([] if reward is None else [reward])


def test_every_guess_is_called_a_guess_and_no_meaning_is_given_twice() -> None:
    keys = ["reward", "mean_reward", "loss", "pg_loss", "kl", "approx_kl", "entropy", "lr", "learning_rate", "val_acc"]
    found = by_words(keys).meanings
    assert all(meaning.kind.startswith("guess: ") for meaning in found.values())
    names = [meaning.canonical for meaning in found.values() if meaning.canonical != "kl/unidentified"]
    assert len(names) == len(set(names))
    assert not any(name.startswith(("kl/ref", "kl/update", "mismatch/")) for name in names)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        (["loss", "learning_rate", "epoch", "mean_token_accuracy"], "supervised fine-tuning"),
        (["loss", "grad_norm", "learning_rate", "epoch"], "supervised"),
        (["loss", "lr", "accuracy"], "supervised"),
        (["train/loss", "eval/loss", "perplexity"], "supervised fine-tuning"),
        (["loss", "rewards/chosen", "rewards/rejected", "rewards/margins"], "DPO-style"),
        (["loss", "accuracy", "margin", "mean_reward", "min_reward"], "reward-model"),
        (["rewards/chosen", "rewards/rejected", "objective/scores"], None),  # Online DPO is RL
        (["loss", "reward"], None),
        (["policy_loss", "loss"], None),
        (["score", "loss"], None),
        ([], None),
    ],
)
def test_another_kind_of_training_is_called_what_it_is(keys: list[str], what: str | None) -> None:
    kind = other_training(keys)
    assert kind is None if what is None else what in str(kind)


def test_dialects_are_named_base_first() -> None:
    assert dialects("trl")[:2] == ("hf-trainer", "trl-grpo")
