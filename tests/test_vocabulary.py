"""What keys mean."""

from __future__ import annotations

import re

import pytest

from leadline.vocabulary import detect, dialects, families, translate


@pytest.mark.parametrize("family", families())
def test_every_row_of_a_dialect_can_be_used(family: str) -> None:
    for entry in families()[family]:
        assert entry.canonical
        groups = set(re.findall(r"<(\w+)>", entry.canonical))
        if entry.key.startswith("^"):
            assert groups <= set(re.compile(entry.key).groupindex), f"{entry.key} has no group for {entry.canonical}"
        else:
            assert not groups
            meaning = translate(entry.key, entry.dialect)
            assert meaning is not None
            assert meaning.canonical == entry.canonical


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


@pytest.mark.parametrize(
    ("keys", "algorithm", "dialect"),
    [
        (["loss", "reward", "kl"], None, "trl-grpo"),
        (["loss", "reward", "kl"], "rloo", "trl-rloo"),
        (["loss", "reward", "kl"], "ppo", "trl-grpo"),  # PPO has keys of its own; without them it is not TRL's PPO
        (["objective/kl", "policy/approxkl_avg"], None, "trl-ppo"),
        (["reward", "kl", "ratio"], "rloo", "trl-asyncgrpo"),
        (["eval_reward"], None, "trl-grpo"),
        (["learning_rate", "loss"], None, "hf-trainer"),
        (["critic/score/mean"], "grpo", "verl"),
        (["val-core/gsm8k/acc/mean@1"], None, "verl"),
        (["speed"], "grpo", None),
        ([], None, None),
    ],
)
def test_a_dialect_is_told_from_its_keys(keys: list[str], algorithm: str | None, dialect: str | None) -> None:
    assert detect(keys, algorithm=algorithm) == dialect


def test_dialects_are_named_base_first() -> None:
    assert dialects("trl")[:2] == ("hf-trainer", "trl-grpo")
