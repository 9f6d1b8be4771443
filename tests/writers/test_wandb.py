"""W&B's own package writes what is special about its files: axes, rows longer than a block."""

from __future__ import annotations

import pytest
from writers.launch import run_program

from leadline.sources import wandb_file
from leadline.sources.wandb_file import WandbReader


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> WandbReader:
    out = tmp_path_factory.mktemp("wandb")
    run_program("define_wandb", out)
    (file,) = out.glob("wandb/offline-run-*/*.wandb")
    found = wandb_file.open(file)[0]
    assert isinstance(found, WandbReader)
    found.update()
    return found


def test_each_metric_is_counted_by_the_key_the_program_named(reader: WandbReader) -> None:
    columns = reader.log.table.columns()
    assert columns["rollout/raw_reward"].steps.tolist() == list(range(20))
    assert columns["rollout/raw_reward"].values.tolist() == [step / 20 for step in range(20)]
    assert columns["train/pg_loss"].steps.tolist() == list(range(80))
    assert not any("unseen" in key for key in columns)


def test_settings_of_the_start_are_there(reader: WandbReader) -> None:
    assert reader.log.settings == {"beta": 0.1}
    assert reader.log.notes == ()
    assert not reader.log.torn
