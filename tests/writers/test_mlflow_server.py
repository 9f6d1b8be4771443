"""A real MLflow server, asked through its own client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from writers.launch import mlflow_server

from leadline.errors import NothingReadable
from leadline.sources import open_run


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that holds the address of a run on a server, and what was logged to it."""
    with mlflow_server(tmp_path_factory.mktemp("mlflow-server")) as out:
        yield out


def test_every_value_on_a_server_is_read(served: Path) -> None:
    address = (served / "address").read_text()
    run = open_run(address)
    held = {int(step): row for step, row in json.loads((served / "held.json").read_text()).items()}
    assert (run.path, run.framework) == (address, "verl")
    for series in run.series:
        assert dict(zip(series.steps.tolist(), series.values.tolist(), strict=True)) == {
            step: row[series.key] for step, row in held.items()
        }
    assert {series.key for series in run.series} == {"critic/score/mean", "actor/pg_loss"}
    assert run.config.planned_steps == 40


def test_a_run_that_is_not_on_the_server_is_one_sentence(served: Path) -> None:
    server = (served / "address").read_text().rpartition("/")[0]
    with pytest.raises(NothingReadable, match="not found"):
        open_run(f"{server}/nosuchrun")
