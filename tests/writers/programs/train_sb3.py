"""Trains PPO on CartPole with stable-baselines3 and says what its logger was given: python train_sb3.py OUT.

OUT/log holds progress.csv, progress.json, log.txt and the TensorBoard file, OUT/log/monitor.csv every episode,
OUT/held.json the rows of the logger, OUT/episodes.json the episodes of the monitor.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback
from stable_baselines3.common.logger import KVWriter, configure
from stable_baselines3.common.monitor import Monitor


class Keep(KVWriter):
    """The rows as the logger hands them to every writer."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    def write(self, key_values: dict[str, object], key_excluded: object, step: int = 0) -> None:
        self.rows.append({key: float(value) for key, value in key_values.items()} | {"step": step})  # type: ignore[arg-type]

    def close(self) -> None:
        pass


def main(out: Path) -> None:
    environment = Monitor(gymnasium.make("CartPole-v1"), str(out / "log" / "monitor.csv"))
    logger = configure(str(out / "log"), ["csv", "json", "log", "tensorboard"])
    keep = Keep()
    logger.output_formats.append(keep)
    model = PPO("MlpPolicy", environment, n_steps=128, batch_size=64, n_epochs=3, seed=3, device="cpu")
    model.set_logger(logger)
    model.learn(2_000, log_interval=1, callback=CheckpointCallback(1_000, str(out / "log" / "checkpoints")))
    logger.close()
    environment.close()
    (out / "held.json").write_text(json.dumps(keep.rows))
    episodes = zip(environment.get_episode_rewards(), environment.get_episode_lengths(), strict=True)
    (out / "episodes.json").write_text(json.dumps([[float(reward), length] for reward, length in episodes]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
