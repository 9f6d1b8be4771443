"""How each framework calls its settings: the table behind `config_from`. A new framework is one entry in FRAMEWORKS."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from .number import as_number, as_step

Flat = Mapping[str, object]  # settings under dotted names


@dataclass(frozen=True, slots=True)
class ConfigKeys:
    """How one framework calls its settings. `signs`: keys of which one proves it."""

    name: str
    signs: tuple[str, ...]
    algorithm: tuple[str, ...] = ()
    group_size: tuple[str, ...] = ()
    planned_steps: tuple[str, ...] = ()
    length_cap: tuple[str, ...] = ()
    learning_rate: tuple[str, ...] = ()
    reference_sync_steps: tuple[str, ...] = ()
    kl: Callable[[Flat], tuple[float | None, str | None]] = lambda flat: (None, None)
    updates: Callable[[Flat], float | None] = lambda flat: None
    plan: Callable[[Flat], float | None] = lambda flat: None  # where no setting counts the steps themselves
    is_called: str | None = None  # the algorithm, where the settings do not name it


def number(flat: Flat, keys: Sequence[str]) -> float | None:
    for key in keys:
        value = flat.get(key)
        if value is not None and not isinstance(value, bool):
            found = as_number(value)
            if found is not None and math.isfinite(found):
                return found
    return None


def whole(flat: Flat, keys: Sequence[str]) -> int | None:
    """The first positive whole number; -1 and 0 are how frameworks say "not set"."""
    for key in keys:
        found = as_step(value) if (value := flat.get(key)) is not None else None
        if found is not None and found > 0:
            return found
    return None


def positive(value: float | None) -> float | None:
    return value if value is not None and value > 0 and math.isfinite(value) else None


def _ratio(flat: Flat, times: Sequence[Sequence[str]], over: Sequence[Sequence[str]] = ()) -> float | None:
    """A product of settings over another; None when one is not known."""
    result = 1.0
    for keys, inverse in [(keys, False) for keys in times] + [(keys, True) for keys in over]:
        found = number(flat, keys)
        if found is None or found <= 0:
            return None
        result = result / found if inverse else result * found
    return result


def _switched(
    in_loss: str, loss_coefficient: str, in_reward: str, reward_coefficient: str
) -> Callable[[Flat], tuple[float | None, str | None]]:
    """KL that two switches put into the loss, into the reward, or nowhere."""

    def kl(flat: Flat) -> tuple[float | None, str | None]:
        if flat.get(in_loss) is True:
            return number(flat, (loss_coefficient,)), "loss"
        if flat.get(in_reward) is True:
            return number(flat, (reward_coefficient,)), "reward"
        return (0.0, None) if in_loss in flat or in_reward in flat else (None, None)

    return kl


def _at(place: str, *keys: str) -> Callable[[Flat], tuple[float | None, str | None]]:
    """KL that has one coefficient and always the same place."""

    def kl(flat: Flat) -> tuple[float | None, str | None]:
        coefficient = number(flat, keys)
        return coefficient, place if coefficient else None

    return kl


def _trl_kl(flat: Flat) -> tuple[float | None, str | None]:
    """GRPO and online DPO put beta into the loss, RLOO and PPO take KL off the reward."""
    if (coefficient := number(flat, ("kl_coef",))) is not None:
        return coefficient, "reward" if coefficient else None
    coefficient = number(flat, ("beta",))
    place = "reward" if "rloo_k" in flat or "normalize_advantages" in flat else "loss"
    return coefficient, place if coefficient else None


def _openrlhf_kl(flat: Flat) -> tuple[float | None, str | None]:
    coefficient = number(flat, ("init_kl_coef", "algo.kl.init_coef"))
    in_loss = flat.get("use_kl_loss", flat.get("algo.kl.use_loss"))
    return coefficient, ("loss" if in_loss is True else "reward") if coefficient else None


def _trl_updates(flat: Flat) -> float | None:
    """Updates on one batch of samples: how often it is gone through, in how many parts."""
    parts = _ratio(flat, [("steps_per_generation",)], [("gradient_accumulation_steps",)])
    return _ratio(flat, [("num_iterations",)]) if parts is None else parts * (number(flat, ("num_iterations",)) or 1)


def _slime_kl(flat: Flat) -> tuple[float | None, str | None]:
    if flat.get("use_kl_loss") is True:
        return number(flat, ("kl_loss_coef",)), "loss"
    return _at("reward", "kl_coef")(flat)


def _slime_updates(flat: Flat) -> float | None:
    told = number(flat, ("num_steps_per_rollout",))
    return told or _ratio(flat, [("rollout_batch_size",), ("n_samples_per_prompt",)], [("global_batch_size",)])


def _open_instruct_steps(flat: Flat) -> float | None:
    """It counts episodes."""
    return _ratio(flat, [("total_episodes",)], [("num_unique_prompts_rollout",), ("num_samples_per_prompt_rollout",)])


# How loops say how many steps there are to be.
HOW_LONG = (
    "max_steps", "training_steps", "total_training_steps", "num_training_steps", "num_train_steps", "total_steps",
    "num_steps", "total_updates", "num_updates", "max_updates", "total_iterations", "num_iterations", "max_iterations",
    "n_iterations", "max_iters", "num_iters",
)  # fmt: skip
TRL = ConfigKeys(
    "trl",
    (
        "num_generations",
        "num_iterations",
        "steps_per_generation",
        "rloo_k",
        "max_completion_length",
        "kl_coef",
        "trl_trainer",
    ),
    algorithm=("trl_trainer",),  # as a model card names it
    group_size=("num_generations", "rloo_k"),
    planned_steps=("max_steps", "training_steps"),
    length_cap=("max_completion_length", "response_length", "max_new_tokens"),
    learning_rate=("learning_rate",),
    reference_sync_steps=("ref_model_sync_steps",),
    kl=_trl_kl,
    updates=_trl_updates,
)
VERL = "actor_rollout_ref."
SKYRL = "trainer.algorithm."
FRAMEWORKS: tuple[ConfigKeys, ...] = (  # most telling signs first
    ConfigKeys(
        "verl",
        (f"{VERL}rollout.n", f"{VERL}actor.ppo_mini_batch_size", "algorithm.adv_estimator"),
        algorithm=("algorithm.adv_estimator",),
        group_size=(f"{VERL}rollout.n",),
        planned_steps=("trainer.total_training_steps", f"{VERL}actor.optim.total_training_steps"),
        length_cap=("data.max_response_length", f"{VERL}rollout.response_length"),
        learning_rate=(f"{VERL}actor.optim.lr",),
        kl=_switched(
            f"{VERL}actor.use_kl_loss",
            f"{VERL}actor.kl_loss_coef",
            "algorithm.use_kl_in_reward",
            "algorithm.kl_ctrl.kl_coef",
        ),
        updates=lambda flat: _ratio(
            flat,
            [(f"{VERL}actor.ppo_epochs",), ("data.train_batch_size",)],
            [(f"{VERL}actor.ppo_mini_batch_size",)],
        ),
    ),
    ConfigKeys(
        "skyrl",
        (f"{SKYRL}advantage_estimator", "generator.n_samples_per_prompt"),
        algorithm=(f"{SKYRL}advantage_estimator",),
        group_size=("generator.n_samples_per_prompt",),
        planned_steps=("trainer.max_steps", "trainer.max_training_steps"),
        length_cap=("generator.sampling_params.max_generate_length",),
        learning_rate=("trainer.policy.optimizer_config.lr",),
        kl=_switched(
            f"{SKYRL}use_kl_loss", f"{SKYRL}kl_loss_coef", f"{SKYRL}use_kl_in_reward", f"{SKYRL}kl_ctrl.kl_coef"
        ),
        updates=lambda flat: _ratio(
            flat,
            [("trainer.update_epochs_per_batch",), ("trainer.train_batch_size",)],
            [("trainer.policy_mini_batch_size",)],
        ),
    ),
    ConfigKeys(
        "nemo_rl",
        ("grpo.num_generations_per_prompt", "grpo.max_num_steps", "loss_fn.reference_policy_kl_penalty"),
        group_size=("grpo.num_generations_per_prompt",),
        planned_steps=("grpo.max_num_steps",),
        length_cap=("policy.generation.max_new_tokens", "policy.max_total_sequence_length"),
        learning_rate=("policy.optimizer.kwargs.lr", "policy.megatron_cfg.optimizer.lr"),
        kl=_at("loss", "loss_fn.reference_policy_kl_penalty"),
        updates=lambda flat: _ratio(
            flat,
            [("grpo.num_prompts_per_step",), ("grpo.num_generations_per_prompt",)],
            [("policy.train_global_batch_size",)],
        ),
        is_called="grpo",
    ),
    ConfigKeys(
        "areal",
        ("gconfig.n_samples", "actor.kl_ctl", "actor.ppo_n_minibatches"),
        group_size=("gconfig.n_samples", "actor.group_size"),
        planned_steps=("total_train_steps",),
        length_cap=("gconfig.max_new_tokens",),
        learning_rate=("actor.optimizer.lr",),
        kl=_at("reward", "actor.kl_ctl"),
        updates=lambda flat: number(flat, ("actor.ppo_n_minibatches",)),
    ),
    ConfigKeys(
        "roll",
        ("actor_train.training_args.learning_rate", "num_return_sequences_in_group"),
        algorithm=("adv_estimator",),
        group_size=("num_return_sequences_in_group",),
        planned_steps=("max_steps",),
        length_cap=("response_length",),
        learning_rate=("actor_train.training_args.learning_rate",),
        kl=_switched("use_kl_loss", "kl_loss_coef", "add_token_level_kl", "init_kl_coef"),
    ),
    ConfigKeys(
        "openrlhf",
        ("init_kl_coef", "algo.kl.init_coef", "algo.advantage.estimator", "generate_max_len"),
        algorithm=("advantage_estimator", "algo.advantage.estimator"),
        group_size=("n_samples_per_prompt", "rollout.n_samples_per_prompt"),
        length_cap=("generate_max_len", "rollout.max_new_tokens"),
        learning_rate=("actor_learning_rate", "actor.adam.lr", "actor.optim.lr"),
        kl=_openrlhf_kl,
        updates=lambda flat: _ratio(
            flat,
            [
                ("max_epochs", "train.max_epochs"),
                ("rollout_batch_size", "rollout.batch_size"),
                ("n_samples_per_prompt",),
            ],
            [("train_batch_size", "train.batch_size")],
        ),
    ),
    ConfigKeys(
        "slime",
        ("rollout_max_response_len", "num_rollout", "num_steps_per_rollout"),
        algorithm=("advantage_estimator",),
        group_size=("n_samples_per_prompt",),
        planned_steps=("num_rollout",),
        length_cap=("rollout_max_response_len",),
        learning_rate=("lr",),
        reference_sync_steps=("ref_update_interval",),
        kl=_slime_kl,
        updates=_slime_updates,
    ),
    ConfigKeys(
        "open_instruct",
        ("num_samples_per_prompt_rollout", "num_unique_prompts_rollout"),
        group_size=("num_samples_per_prompt_rollout",),
        planned_steps=("num_training_steps",),
        plan=_open_instruct_steps,
        length_cap=("response_length",),
        learning_rate=("learning_rate",),
        reference_sync_steps=("ref_policy_update_freq",),
        kl=_at("loss", "beta"),
        updates=lambda flat: _ratio(flat, [("num_epochs",), ("num_mini_batches",)]),
        is_called="grpo",
    ),
    ConfigKeys(
        "tinker",
        ("kl_penalty_coef", "num_substeps", "dataset_builder.group_size"),
        group_size=("dataset_builder.group_size", "group_size"),
        planned_steps=("max_steps",),
        length_cap=("max_tokens",),
        learning_rate=("learning_rate",),
        kl=_at("reward", "kl_penalty_coef"),
        updates=lambda flat: number(flat, ("num_substeps",)),
    ),
    ConfigKeys(
        "prime_rl",
        ("rollouts_per_example", "orchestrator.rollouts_per_example", "orchestrator.batch_size", "optim.lr"),
        group_size=("rollouts_per_example", "orchestrator.rollouts_per_example", "orchestrator.group_size"),
        planned_steps=("max_steps", "trainer.max_steps"),
        length_cap=(
            "sampling.max_tokens",
            "orchestrator.sampling.max_tokens",
            "orchestrator.train.sampling.max_tokens",
        ),
        learning_rate=("optim.lr", "trainer.optim.lr"),
    ),
    # The settings of TRL's trainers are mostly the same; these are those that only one of them has.
    replace(TRL, signs=("rloo_k", "normalize_advantages", "reward_clip_range"), is_called="rloo"),
    replace(TRL, signs=("scale_rewards", "importance_sampling_level", "multi_objective_aggregation"), is_called="grpo"),
    TRL,
    ConfigKeys(  # the runs of the zoo, and a plain way to write settings by hand
        "plain",
        ("algo",),
        algorithm=("algo",),
        group_size=("G", "group_size"),
        planned_steps=("steps", "n_timesteps", "total_timesteps"),
        length_cap=("length_cap", "max_tokens"),
        learning_rate=("lr", "learning_rate"),
        reference_sync_steps=("reference_sync_steps",),
        kl=lambda flat: (number(flat, ("beta", "kl_coefficient")), None),
        updates=lambda flat: _ratio(flat, [("mu",), ("mini",)]),
    ),
    ConfigKeys(
        "cleanrl",
        ("update_epochs", "num_minibatches", "anneal_lr"),
        algorithm=("exp_name",),
        planned_steps=("total_timesteps",),
        learning_rate=("learning_rate",),
        updates=lambda flat: _ratio(flat, [("update_epochs",), ("num_minibatches",)]),
    ),
    ConfigKeys(
        "sb3",
        ("n_epochs", "clip_range", "n_timesteps", "policy_kwargs"),
        planned_steps=("n_timesteps", "total_timesteps"),
        learning_rate=("learning_rate",),
        updates=lambda flat: _ratio(flat, [("n_epochs",), ("n_steps",)], [("batch_size",)]),
    ),
    ConfigKeys(
        "rllib",
        ("num_sgd_iter", "sgd_minibatch_size", "train_batch_size_per_learner", "minibatch_size", "env_config"),
        planned_steps=("stop.training_iteration", "training_iteration"),
        learning_rate=("lr",),
        updates=lambda flat: _ratio(
            flat,
            [("num_epochs", "num_sgd_iter"), ("train_batch_size", "train_batch_size_per_learner")],
            [("minibatch_size", "sgd_minibatch_size")],
        ),
    ),
    ConfigKeys(
        "trainer",  # any Hugging Face Trainer, a model card, DeepSpeed, a loop of one's own
        ("learning_rate", "optimizer.params.lr", *HOW_LONG[2:]),
        planned_steps=HOW_LONG,
        learning_rate=("learning_rate", "optimizer.params.lr"),
    ),
)
