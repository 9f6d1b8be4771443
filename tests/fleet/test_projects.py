"""Projects of real trackers as roots of a scan: by their names, and read again only where something changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from extras import needs
from writers.launch import PROGRAMS, mlflow_server

from leadline.fleet.scan import scan
from leadline.shelf.store import Shelf

from .test_scan import Here

pytestmark = pytest.mark.writers
NAMES = {"math/grpo-seed0", "math/grpo-seed1", "code/grpo-seed0", "code/grpo-seed1"}


def written(out: Path, *told: str) -> Path:
    out.mkdir(exist_ok=True)
    program = [sys.executable, str(PROGRAMS / "projects.py"), str(out), *told]
    done = subprocess.run(program, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return out


def told(shelf: Shelf) -> dict[str, tuple[str, str, str | None, str]]:
    return {row.name: (row.project, row.variant, row.seed, row.state) for row, gone in shelf.rows() if gone is None}


EXPECTED = {name: (name[:4], name[:9], name[-1], "read") for name in NAMES}


@pytest.mark.parametrize("tracker", ["wandb", "mlflow", "mlflow-sqlite", "trackio"])
def test_runs_are_called_as_their_tracker_calls_them(tracker: str, tmp_path: Path) -> None:
    needs(tracker.partition("-")[0])
    root = written(tmp_path / "lab", tracker)
    with Shelf(str(tmp_path / "shelf.db")) as shelf:
        scan((str(root),), shelf, Here())
        assert told(shelf) == EXPECTED
        again = Here()
        scan((str(root),), shelf, again)
        assert again.read == []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The host and port of a real MLflow server; it holds one run that the program logged itself."""
    needs("mlflow")
    with mlflow_server(tmp_path_factory.mktemp("server")) as out:
        yield (out / "address").read_text().removeprefix("mlflow://").partition("/")[0]


def test_a_server_is_read_run_by_run(server: str, tmp_path: Path) -> None:
    import mlflow

    written(tmp_path / "none", "mlflow", f"http://{server}")
    with Shelf(str(tmp_path / "shelf.db")) as shelf:
        scan((f"mlflow://{server}",), shelf, Here())
        assert told(shelf) == {**EXPECTED, "leadline/served": ("leadline", "leadline/served", None, "read")}
        client = mlflow.tracking.MlflowClient(f"http://{server}")
        (experiment,) = [found for found in client.search_experiments() if found.name == "math"]
        grown = client.search_runs([experiment.experiment_id])[0].info.run_id
        client.log_metric(grown, "train/reward", 0.5, step=41)
        again = Here()
        scan((f"mlflow://{server}",), shelf, again)
        assert again.read == [grown]
        assert {row.identity: row.last_step for row, _ in shelf.rows()}[f"mlflow://{server}/{grown}"] == 41
