"""RLlib under Tune: result.json, progress.csv and the event file, compared with what each iteration reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from writers.held import differences, held_in, read_as

from leadline.sources import open_run

REWARD = "env_runners/episode_return_mean"
# They are the step and its time.
CLOCKS = {"training_iteration", "timestamp"}


def trial(rllib: Path) -> Path:
    (place,) = (rllib / "results" / "tiny").glob("PPO_*")
    return place


@pytest.mark.parametrize("name", ["result.json", "progress.csv"])
def test_every_file_of_tune_holds_every_value(name: str, rllib: Path) -> None:
    run = open_run(trial(rllib) / name)
    held = held_in(rllib / "held.json")
    unheld = set(CLOCKS)
    if name == "progress.csv":  # its header is written with the first row, so what is first reported later is not in it
        unheld |= {key for key, points in held.items() if min(points) > 1} | {"done"}  # "False" is a word there
    assert differences(read_as(run), held, without=unheld) == []
    assert run.framework == "rllib"


@pytest.mark.parametrize("place", ["", "result.json", "progress.csv"])
def test_the_return_of_an_episode_is_the_reward(place: str, rllib: Path) -> None:
    run = open_run(trial(rllib) / place)
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.key == REWARD
    assert reward.values.tolist() == list(held_in(rllib / "held.json")[REWARD].values())


def test_the_experiment_folder_leads_to_its_only_trial(rllib: Path) -> None:
    run = open_run(rllib / "results" / "tiny")
    assert run.framework == "rllib"
    assert run.get("reward/mean") is not None
