"""stable-baselines3 and CleanRL: what their own writers leave, compared with what the logger was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from writers.held import differences, held_in, read_as, single

from leadline.sources import open_run

CLOCK = "time/total_timesteps"  # it is the step
TURNED = "train/entropy_loss"  # negative entropy, which Leadline turns around
NOT_IN_TENSORBOARD = {"time/iterations", "time/time_elapsed", "train/n_updates"}  # SB3 keeps them from it


@pytest.mark.parametrize("name", ["progress.csv", "progress.json", "events"])
def test_every_writer_of_sb3_holds_every_value(cartpole: Path, name: str) -> None:
    run = open_run(next((cartpole / "log").glob(f"{name}*")))
    unheld = {CLOCK, TURNED} | (NOT_IN_TENSORBOARD if name == "events" else set())
    # single: progress.csv, too, prints numpy's 32-bit floats with the digits they have
    assert differences(read_as(run), held_in(cartpole / "held.json"), kept=single, without=unheld) == []
    assert run.framework == "sb3"
    reward = run.get("reward/mean")
    assert reward is not None
    assert (reward.key, reward.points) == ("rollout/ep_rew_mean", 16)


def test_negative_entropy_is_turned_around(cartpole: Path) -> None:
    entropy = open_run(cartpole / "log" / "progress.csv").get("entropy")
    held = held_in(cartpole / "held.json")[TURNED]
    assert all(value < 0 for value in held.values())
    assert entropy is not None
    assert (entropy.key, entropy.values.tolist()) == (TURNED, [-value for value in held.values()])


def test_the_monitor_holds_every_episode(cartpole: Path) -> None:
    run = open_run(cartpole / "log" / "monitor.csv")
    episodes = json.loads((cartpole / "episodes.json").read_text())
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.points == len(episodes)
    assert reward.values.tolist() == pytest.approx([one for one, _ in episodes], abs=1e-6)


def test_the_whole_folder_is_one_run(cartpole: Path) -> None:
    run = open_run(cartpole / "log")
    reward = run.get("reward/mean")
    assert reward is not None
    assert (run.framework, run.last_step, reward.key) == ("sb3", 2048, "rollout/ep_rew_mean")
    assert [one.step for one in run.checkpoints] == [1000, 2000]


def test_a_cleanrl_run_is_read_on_the_clock_of_the_environment(tracked: Callable[[str], Path]) -> None:
    out = tracked("cleanrl")
    run = open_run(out / "run")
    assert differences(read_as(run), held_in(out / "held.json"), kept=single) == []
    assert run.framework == "cleanrl"
    reward = run.get("reward/mean")
    assert reward is not None
    assert (reward.key, reward.points, run.last_step) == ("charts/episodic_return", 180, 30720)
