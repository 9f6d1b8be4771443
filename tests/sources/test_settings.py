"""Settings as frameworks, trackers and people write them."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.run import Config, Series
from leadline.sources.paths import may_hold_settings
from leadline.sources.settings import config_from, flattened, merged, plan_in, read

VERL = """
algorithm: {adv_estimator: grpo, use_kl_in_reward: false, kl_ctrl: {kl_coef: 0.1}}
data: {train_batch_size: 1024, max_response_length: 2048}
actor_rollout_ref:
  actor: {use_kl_loss: true, kl_loss_coef: 0.001, ppo_epochs: 1, ppo_mini_batch_size: 256, optim: {lr: 1e-6}}
  rollout: {n: 5}
trainer: {total_training_steps: 400}
"""


def test_a_log_that_counts_what_is_done_tells_the_plan() -> None:
    steps = np.arange(0, 30)
    done = Series("progress/done_frac", "progress/done_frac", "fraction", steps, (steps + 1) / 50)
    assert plan_in([done]) == 50
    assert plan_in([replace(done, values=steps / 50)]) == 50  # nothing is done at step 0
    assert plan_in([replace(done, steps=steps + 1)]) == 50
    assert plan_in([done.until(0)]) is None
    assert plan_in([]) is None
    assert plan_in([Series("progress/done_frac", "x", "fraction", steps, np.ones(30))]) is None


@pytest.mark.parametrize("share", [5e-324, 1e-310, 1e-17])
def test_a_share_too_small_for_any_plan_tells_none(share: float) -> None:
    """Steps over such shares are infinite, or more than steps can be told apart."""
    steps = np.arange(0, 30)
    done = Series("progress/done_frac", "progress/done_frac", "fraction", steps, steps * share)
    assert plan_in([done]) is None


def test_a_plan_worked_out_from_settings_is_one_a_run_can_have() -> None:
    counts = {"num_samples_per_prompt_rollout": 16, "num_unique_prompts_rollout": 64}
    assert config_from({**counts, "total_episodes": 1024 * 300}).planned_steps == 300
    assert config_from({**counts, "total_episodes": 1e300}).planned_steps is None
    assert config_from({**counts, "total_episodes": 1}).planned_steps is None


def test_verl(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    file = tmp_path / ".hydra" / "config.yaml"
    file.write_text(VERL)
    assert may_hold_settings(file)
    config = config_from(read(file))
    assert config == Config("grpo", 0.001, "loss", 4.0, 5, 400, 2048, None, 1e-6, raw=config.raw)


def test_verl_with_the_penalty_in_the_reward_and_with_none() -> None:
    base = {"algorithm.adv_estimator": "gae", "actor_rollout_ref.actor.use_kl_loss": False}
    in_reward = {**base, "algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.05}
    assert (config_from(in_reward).kl_coefficient, config_from(in_reward).kl_place) == (0.05, "reward")
    assert (config_from(base).kl_coefficient, config_from(base).kl_place) == (0.0, None)
    assert config_from(base).algorithm == "ppo"


CASES = {
    "trl grpo": (
        {"num_generations": 8, "beta": 0.04, "num_iterations": 2, "steps_per_generation": 4, "max_steps": 500}
        | {"gradient_accumulation_steps": 2, "max_completion_length": 256, "learning_rate": 1e-6}
        | {"sync_ref_model": True, "ref_model_sync_steps": 64},
        Config(None, 0.04, "loss", 4.0, 8, 500, 256, 64, 1e-6),
    ),
    "trl without syncing": (
        {"num_generations": 8, "beta": 0.0, "sync_ref_model": False, "ref_model_sync_steps": 512, "max_steps": -1},
        Config(None, 0.0, None, None, 8),
    ),
    "trl rloo": (
        {"num_generations": 4, "beta": 0.05, "normalize_advantages": False, "num_iterations": 1},
        Config("rloo", 0.05, "reward", 1.0, 4),
    ),
    "trl grpo by a setting of its own": (
        {"num_generations": 4, "beta": 0.05, "scale_rewards": "group", "num_iterations": 1},
        Config("grpo", 0.05, "loss", 1.0, 4),
    ),
    "trl ppo": ({"kl_coef": 0.05, "response_length": 53}, Config(None, 0.05, "reward", length_cap=53)),
    "openrlhf": (
        {"advantage_estimator": "group_norm", "init_kl_coef": 0.01, "use_kl_loss": True, "n_samples_per_prompt": 8}
        | {"max_epochs": 1, "rollout_batch_size": 128, "train_batch_size": 256, "generate_max_len": 1024}
        | {"actor_learning_rate": 5e-7},
        Config("grpo", 0.01, "loss", 4.0, 8, None, 1024, None, 5e-7),
    ),
    "nemo rl": (
        {
            "grpo": {"num_prompts_per_step": 32, "num_generations_per_prompt": 16, "max_num_steps": 1000},
            "loss_fn": {"reference_policy_kl_penalty": 0.01},
            "policy": {
                "train_global_batch_size": 512,
                "max_total_sequence_length": 512,
                "optimizer": {"kwargs": {"lr": 5e-6}},
            },
        },
        Config("grpo", 0.01, "loss", 1.0, 16, 1000, 512, None, 5e-6),
    ),
    "skyrl": (
        {
            "trainer": {
                "algorithm": {"advantage_estimator": "rloo", "use_kl_loss": True, "kl_loss_coef": 0.001},
                "update_epochs_per_batch": 1,
                "train_batch_size": 1024,
                "policy_mini_batch_size": 256,
                "policy": {"optimizer_config": {"lr": 1e-6}},
            },
            "generator": {"n_samples_per_prompt": 5, "sampling_params": {"max_generate_length": 1024}},
        },
        Config("rloo", 0.001, "loss", 4.0, 5, None, 1024, None, 1e-6),
    ),
    "prime-rl": (
        {"max_steps": 300, "orchestrator": {"rollouts_per_example": 16, "sampling": {"max_tokens": 2048}}}
        | {"trainer": {"optim": {"lr": 3e-6}}},
        Config(group_size=16, planned_steps=300, length_cap=2048, learning_rate=3e-6),
    ),
    "slime": (
        {"advantage_estimator": "grpo", "use_kl_loss": True, "kl_loss_coef": 0.0, "n_samples_per_prompt": 8, "lr": 1e-6}
        | {"num_rollout": 3000, "rollout_batch_size": 32, "global_batch_size": 256, "rollout_max_response_len": 8192},
        Config("grpo", 0.0, "loss", 1.0, 8, 3000, 8192, None, 1e-6),
    ),
    "areal": (
        {"gconfig": {"n_samples": 4, "max_new_tokens": 1024}}
        | {"actor": {"kl_ctl": 0.0, "ppo_n_minibatches": 4, "optimizer": {"lr": 2e-5}}},
        Config(None, 0.0, None, 4.0, 4, None, 1024, None, 2e-5),
    ),
    "roll": (
        {"adv_estimator": "reinforce", "num_return_sequences_in_group": 8, "response_length": 4096, "max_steps": 500}
        | {"use_kl_loss": True, "kl_loss_coef": 0.001, "actor_train": {"training_args": {"learning_rate": 1e-6}}},
        Config("reinforce", 0.001, "loss", None, 8, 500, 4096, None, 1e-6),
    ),
    "open-instruct": (
        {
            "num_samples_per_prompt_rollout": 16,
            "num_unique_prompts_rollout": 64,
            "total_episodes": 1024000,
            "beta": 0.01,
        }
        | {"num_epochs": 1, "num_mini_batches": 2, "response_length": 2048, "learning_rate": 5e-7},
        Config("grpo", 0.01, "loss", 2.0, 16, 1000, 2048, None, 5e-7),
    ),
    "tinker": (
        {"learning_rate": 4e-5, "kl_penalty_coef": 0.0, "num_substeps": 1, "max_tokens": 256}
        | {"dataset_builder": {"group_size": 16, "batch_size": 64}},
        Config(None, 0.0, None, 1.0, 16, None, 256, None, 4e-5),
    ),
    "the zoo": (
        {"algo": "grpo", "lr": 1e-5, "beta": 0.02, "mu": 2, "mini": 4, "G": 8, "steps": 500},
        Config("grpo", 0.02, None, 8.0, 8, 500, None, None, 1e-5),
    ),
    "cleanrl": (
        {
            "exp_name": "ppo",
            "total_timesteps": 500000,
            "learning_rate": 2.5e-4,
            "update_epochs": 4,
            "num_minibatches": 4,
        },
        Config("ppo", updates_per_batch=16.0, planned_steps=500000, learning_rate=2.5e-4),
    ),
    "stable-baselines3": (
        {"n_epochs": 10, "n_steps": 2048, "batch_size": 64, "learning_rate": 3e-4, "n_timesteps": 1000000},
        Config(updates_per_batch=320.0, planned_steps=1000000, learning_rate=3e-4),
    ),
    "rllib": (
        {"lr": 5e-5, "num_epochs": 30, "train_batch_size": 4000, "minibatch_size": 128, "env_config": {}},
        Config(updates_per_batch=937.5, learning_rate=5e-5),
    ),
    "deepspeed": ({"optimizer": {"type": "AdamW", "params": {"lr": 1e-6}}}, Config(learning_rate=1e-6)),
}


@pytest.mark.parametrize("name", CASES)
def test_each_framework_s_own_names(name: str) -> None:
    raw, expected = CASES[name]
    config = config_from(raw)
    assert config == Config(**{key: getattr(expected, key) for key in FIELDS}, raw=config.raw)


FIELDS = [name for name in Config.__dataclass_fields__ if name != "raw"]


@pytest.mark.parametrize("name", CASES)
def test_settings_read_the_same_nested_flat_as_text_and_as_a_tracker_wraps_them(name: str) -> None:
    raw, _ = CASES[name]
    plain = config_from(raw)
    flat = {key.replace(".", "/"): value for key, value in flattened(raw).items()}  # type: ignore[arg-type]
    texts = {key: str(value) for key, value in flat.items()}
    wrapped = {key: {"value": value, "desc": None} for key, value in raw.items()} | {"_wandb": {"value": {"x": 1}}}
    for other in (flat, texts, wrapped):
        told = config_from(other)
        assert [getattr(told, key) for key in FIELDS] == [getattr(plain, key) for key in FIELDS]


def test_toml_and_a_model_card(tmp_path: Path) -> None:
    (tmp_path / "rl.toml").write_text("max_steps = 300\n[orchestrator]\nrollouts_per_example = 16\n")
    assert config_from(read(tmp_path / "rl.toml")).group_size == 16
    card = "# Card\n\n### Training hyperparameters\n\n- learning_rate: 5e-07\n- training_steps: 1000\n"
    (tmp_path / "README.md").write_text(card)
    config = config_from(read(tmp_path / "README.md"))
    assert (config.learning_rate, config.planned_steps, config.algorithm) == (5e-7, 1000, None)
    tags = "---\nlibrary_name: transformers\ntags:\n- generated_from_trainer\n- trl\n- rloo\nlicence: license\n---\n"
    (tmp_path / "README.md").write_text(tags + card)
    config = config_from(read(tmp_path / "README.md"))
    assert (config.learning_rate, config.planned_steps, config.algorithm) == (5e-7, 1000, "rloo")


def test_a_description_of_a_model_is_no_settings() -> None:
    assert config_from({"model_type": "qwen2", "learning_rate": 1.0, "algo": "x"}) == Config()


def test_what_is_pickled_stays_closed() -> None:
    assert not may_hold_settings(Path("training_args.bin"))
    assert not may_hold_settings(Path("optimizer.pt"))


def test_the_first_that_says_something_stands() -> None:
    one, other = Config("grpo", group_size=8, raw={"a": 1}), Config("ppo", planned_steps=5, raw={"a": 2, "b": 3})
    assert merged([one, other]) == Config("grpo", group_size=8, planned_steps=5, raw={"a": 1, "b": 3})


BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
)
NESTED_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} {{l: *{chr(97 + n)}, r: *{chr(97 + n)}}}\n" for n in range(24)
)


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['true']\nalgo: grpo\n",
        BOMB + "algo: grpo\n",
        NESTED_BOMB + "algo: grpo\n",
        "&a algo: grpo\nself: &b {x: *b}\n",
        "algo: [\n",
        "\t\talgo: grpo",
        "- 1\n- 2\n",
        "a: 2001-99-99\n",
        "{" * 3000,
    ],
    ids=["object", "list bomb", "map bomb", "circle", "torn", "tabs", "list", "date", "deep"],
)
def test_hostile_yaml_is_harmless(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    assert len(config_from(read(file)).raw) <= 20_000


def test_an_object_of_some_program_costs_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("a: !!python/object/apply:os.system ['false']\nb: !path x\nalgo: grpo\n")
    assert config_from(read(file)).algorithm == "grpo"


@given(st.binary(max_size=200), st.sampled_from(["config.json", "config.yaml", "x.toml", "README.md"]))
def test_any_bytes_are_survived(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        assert len(config_from(read(file)).raw) <= len(data)


def test_a_settings_file_that_is_gone_or_too_large_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "config.json") == {}
    (tmp_path / "config.json").write_text(json.dumps({"algo": "grpo", "x": "y" * (1 << 22)}))
    assert read(tmp_path / "config.json") == {}
