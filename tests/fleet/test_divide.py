"""Which folders are read as a whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leadline.errors import NothingReadable
from leadline.fleet.divide import units

from .conftest import write_run


def places(root: Path) -> list[str]:
    return sorted(os.path.relpath(unit.place, root) for unit in units(str(root)))


def test_each_run_is_a_unit_of_its_own(lab: Path) -> None:
    assert places(lab) == [
        "code/a",
        "code/b",
        "code/broken",
        "math/grpo-seed0",
        "math/grpo-seed1",
        "math/ppo-seed0",
        "web/only",
    ]


def test_a_run_with_its_trackers_states_and_samples_is_one_unit(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    for below in ("logs", "tensorboard", "checkpoint-100", "checkpoint-200", "rollouts"):
        (run / below).mkdir()
        (run / below / "train.log").write_text("step 1\n", encoding="utf-8")
    assert places(tmp_path) == ["run"]


def test_a_stray_table_does_not_make_one_run_of_many(lab: Path) -> None:
    (lab / "INDEX.csv").write_text("name,team\na,b\n", encoding="utf-8")
    assert set(places(lab)) >= {"INDEX.csv", "code/a", "math/grpo-seed0"}


def test_what_marks_an_mlflow_experiment_is_no_run(tmp_path: Path) -> None:
    for run in ("a1", "b2"):
        (tmp_path / "mlruns" / "7" / run / "metrics").mkdir(parents=True)
        (tmp_path / "mlruns" / "7" / run / "metrics" / "reward").write_text("1 0.5 1\n", encoding="utf-8")
        (tmp_path / "mlruns" / "7" / run / "meta.yaml").write_text("run_name: a\n", encoding="utf-8")
    for folder in ("mlruns/7", "mlruns/0"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "meta.yaml").write_text("name: math\n", encoding="utf-8")
    assert places(tmp_path) == ["mlruns/7/a1", "mlruns/7/b2"]


def test_states_without_a_log_are_no_run(tmp_path: Path) -> None:
    (tmp_path / "weights" / "checkpoint-1").mkdir(parents=True)
    (tmp_path / "weights" / "checkpoint-1" / "model.safetensors").write_bytes(b"0")
    assert places(tmp_path) == []


def test_a_link_that_leads_back_ends(lab: Path) -> None:
    (lab / "web" / "round").symlink_to(lab)
    assert len(places(lab)) == 7


def test_hundreds_of_logs_in_one_folder_are_read_one_by_one(tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"log-{number}.jsonl").write_text('{"step": 1, "reward": 0}\n', encoding="utf-8")
    assert len(places(tmp_path)) == 150


def test_a_mark_changes_with_what_lies_there_and_else_not(lab: Path) -> None:
    before = {unit.place: unit.mark for unit in units(str(lab))}
    assert before == {unit.place: unit.mark for unit in units(str(lab))}
    with (lab / "web" / "only" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 99, "reward": 1}\n')
    after = {unit.place: unit.mark for unit in units(str(lab))}
    assert {place for place in before if before[place] != after[place]} == {str(lab / "web" / "only")}


def test_a_place_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NothingReadable, match="cannot be scanned"):
        list(units(str(tmp_path / "nowhere")))
