"""Trains PPO on CartPole with RLlib under Tune and says what each iteration reported: python train_rllib.py OUT.

OUT/results/tiny/<trial>/ holds what Tune writes: result.json, progress.csv, params.json, an event file, a checkpoint.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ |= {"RAY_DEDUP_LOGS": "0", "RAY_AIR_NEW_OUTPUT": "0", "RAY_USAGE_STATS_ENABLED": "0"}

import ray
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig


class Keep(tune.Callback):
    """The results as Tune hands them to every logger."""

    def __init__(self, file: Path) -> None:
        self.file, self.rows = file, []

    def on_trial_result(self, iteration: int, trials: object, trial: object, result: dict, **_: object) -> None:
        self.rows.append(dict(flat(result)) | {"step": result["training_iteration"]})
        self.file.write_text(json.dumps(self.rows))


def flat(result: dict, before: str = "") -> list[tuple[str, float]]:
    """Numbers with the path of keys that leads to them."""
    found = []
    for key, value in result.items():
        if isinstance(value, dict) and key != "config":
            found += flat(value, f"{before}{key}/")
        elif isinstance(value, int | float) or (hasattr(value, "item") and getattr(value, "ndim", 1) == 0):
            found.append((f"{before}{key}", float(value)))
    return found


def main(out: Path) -> None:
    out = out.resolve()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    setup = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0)
        .training(train_batch_size=256, minibatch_size=64, num_epochs=2)
        .debugging(seed=1)
    )
    plan = tune.RunConfig(
        storage_path=str(out / "results"),
        name="tiny",
        stop={"training_iteration": 5},
        callbacks=[Keep(out / "held.json")],
    )
    tune.Tuner("PPO", param_space=setup, run_config=plan).fit()
    ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
