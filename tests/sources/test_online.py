"""Servers of trackers. W&B's cannot be reached from a test: objects of the shape its client returns stand in for it.
MLflow's is tried with the real client and a real server in tests/writers/test_mlflow_server.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from leadline.errors import MissingExtra, NothingReadable
from leadline.sources import online


class RecordedRun:
    """As `wandb.Api().run(...)`: rows are plain dicts, keys a row does not hold are null."""

    id, name, state = "abc123", "one", "running"

    def __init__(self) -> None:
        self.config: dict[str, object] = {"lr": 1e-6, "_wandb": {"cli_version": "0.31.0"}}
        self.rows: list[dict[str, object]] = [
            {"_step": step, "_timestamp": 1e9 + step, "_runtime": step, "train/reward": step / 10, "eval/reward": None}
            for step in range(1, 11)
        ]

    def scan_history(self) -> Iterator[dict[str, object]]:
        return iter(self.rows)

    def history(self, *, samples: int, pandas: bool, stream: str) -> list[dict[str, object]]:
        assert (pandas, stream) == (False, "system")
        return [{"_timestamp": 1e9, "system.gpu.0.powerWatts": 300.5, "system.cpu": None}]


def served(run: RecordedRun, monkeypatch: pytest.MonkeyPatch, asked: list[str] | None = None) -> online.Served:
    package: Any = ModuleType("wandb")
    package.Api = lambda: SimpleNamespace(run=lambda place: ([] if asked is None else asked).append(place) or run)
    monkeypatch.setitem(sys.modules, "wandb", package)
    return (online.open("wandb://me/project/abc123") or ())[0]


def test_a_w_and_b_run_is_read_through_its_own_client(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    log = served(RecordedRun(), monkeypatch, asked).read()
    assert asked == ["me/project/abc123"]
    assert log.table.columns()["train/reward"].steps.tolist() == list(range(1, 11))
    assert log.table.columns()["train/reward"].walls.tolist()[0] == 1e9 + 1
    assert "eval/reward" not in log.table.columns()
    assert log.settings == {"lr": 1e-6}
    assert log.label == "one"
    assert log.telemetry.gpus.power_w.tolist() == [300.5]
    with pytest.raises(NothingReadable, match="does not name a W&B run"):
        online.open("wandb://me/project")


def test_a_server_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RecordedRun()

    def broken() -> Iterator[dict[str, object]]:
        raise ConnectionError("no route to host\nand a long trace")

    monkeypatch.setattr(run, "scan_history", broken)
    with pytest.raises(NothingReadable, match="no route to host") as refused:
        served(run, monkeypatch).read()
    assert "\n" not in refused.value.what


def test_the_runs_of_a_w_and_b_project_are_listed_without_their_histories(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("wandb")
    runs = [SimpleNamespace(id="a", state="running", lastHistoryStep=5), SimpleNamespace(id="b", state="finished")]
    package.Api = lambda: SimpleNamespace(runs=lambda place, order: runs if place == "me/project" else [])
    monkeypatch.setitem(sys.modules, "wandb", package)
    before = dict(online.listed("wandb://me/project") or ())
    assert list(before) == ["wandb://me/project/a", "wandb://me/project/b"]
    runs[0].lastHistoryStep = 6
    after = dict(online.listed("wandb://me/project") or ())
    assert [place for place in before if before[place] != after[place]] == ["wandb://me/project/a"]


def test_a_missing_client_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    with pytest.raises(MissingExtra, match=r"leadline\[wandb\]"):
        online.open("wandb://me/project/abc123")
    with pytest.raises(MissingExtra, match=r"leadline\[mlflow\]"):
        online.open("mlflow://localhost:5000/abc")


def test_an_address_without_a_server_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.tracking", ModuleType("mlflow.tracking"))
    with pytest.raises(NothingReadable, match="refused") as refused:
        online.open("mlflow://127.0.0.1:1/abc")
    assert "\n" not in refused.value.what
    with pytest.raises(NothingReadable, match="does not name an MLflow run"):
        online.open("mlflow:///abc")
