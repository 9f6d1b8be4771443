"""The trackers' own packages write a verl run; every value of it is read back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from writers.held import differences, held_in, read_as, rename, single

from leadline.sources import open_run


def mlflow_key(key: str) -> str:
    return key.replace("@", "_at_")


def tensorboardx_key(key: str) -> str:
    """As tensorboardX cleans a tag."""
    return re.sub(r"[^-/\w.]", "_", key)


CARRIERS: dict[str, tuple[Callable[[str], str], Callable[[float], float]]] = {
    "torch_writer": (str, single),
    "tensorboardx": (tensorboardx_key, single),
    "wandb": (str, float),
    "mlflow_file": (mlflow_key, float),
    "mlflow_sqlite": (mlflow_key, float),  # its database keeps an infinity as the largest float; it is read as one
    "trackio": (str, float),
    "swanlab": (str, float),
}


@pytest.mark.parametrize("name", CARRIERS)
def test_every_value_comes_back(name: str, tracked: Callable[[str], Path]) -> None:
    renamed, kept = CARRIERS[name]
    out = tracked(name)
    run = open_run(out / "run")
    assert differences(read_as(run), rename(held_in(out / "held.json"), renamed), kept=kept) == []
    assert run.events == () or {event.kind for event in run.events} <= {"lr_schedule"}


@pytest.mark.parametrize("name", CARRIERS)
def test_the_framework_is_known_by_its_keys_whatever_carries_them(name: str, tracked: Callable[[str], Path]) -> None:
    run = open_run(tracked(name) / "run")
    reward, kl = run.get("reward/mean"), run.get("kl/ref")
    assert run.framework == "verl"
    assert reward is not None
    assert kl is not None
    assert (reward.key, reward.points, kl.key) == ("critic/score/mean", 300, "actor/kl_loss")


@pytest.mark.parametrize("name", CARRIERS)
def test_points_have_the_time_they_were_written(name: str, tracked: Callable[[str], Path]) -> None:
    out = tracked(name)
    reward = open_run(out / "run").get("reward/mean")
    assert reward is not None
    assert reward.walls is not None
    written = (out / "held.json").stat().st_mtime
    assert abs(float(reward.walls[-1]) - written) < 120
    assert all(earlier <= later for earlier, later in zip(reward.walls[:-1], reward.walls[1:], strict=True))


@pytest.mark.parametrize("name", ["wandb", "mlflow_file", "mlflow_sqlite", "trackio", "swanlab"])
def test_the_settings_given_to_a_tracker_are_the_run_s(name: str, tracked: Callable[[str], Path]) -> None:
    config = open_run(tracked(name) / "run").config
    assert (config.algorithm, config.planned_steps, config.group_size) == ("grpo", 300, 8)
    assert (config.kl_coefficient, config.kl_place) == (0.001, "loss")
