"""Shared fixtures: the bundled runs, and small logs written as their frameworks write them."""

from __future__ import annotations

import gc
import json
import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import without_hypothesis

# Before numpy is loaded, and for every process that a test starts: products of small matrices gain nothing from a
# second thread, which doubles the processor time of a reading.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import kept  # noqa: E402

try:
    import hypothesis
except ImportError:
    sys.modules.update(without_hypothesis.modules())
    hypothesis = sys.modules["hypothesis"]

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "leadline" / "examples"

# No deadline: the machine may be busy. The same examples every time: a red suite means that the code changed.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("suite")

Rows = Sequence[tuple[int, Mapping[str, object]]]

kept.keep()


def pytest_configure(config: pytest.Config) -> None:
    """Where Python may write no bytecode beside its sources, let the many processes that tests start share some."""
    gc.disable()  # until all is collected: a third of that time would go into looking for garbage
    if sys.dont_write_bytecode:
        folder = tempfile.mkdtemp(prefix="leadline-bytecode-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the garbage collector need not look at it again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def own_state(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What a test says of a run, such as a review, is nothing to other tests or to the user."""
    place = tmp_path_factory.getbasetemp() / f"state-{abs(hash(request.node.nodeid))}"
    monkeypatch.setenv("XDG_STATE_HOME", str(place))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture
def ends_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """Runs one of our programs from the repository root, in this process, and returns its exit code."""

    def run(program: str, *words: str) -> object:
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setattr(sys, "argv", [program, *words])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(program, run_name="__main__")
        return end.value.code

    return run


@pytest.fixture(params=["healthy", "collapsed", "hacked"])
def example(request: pytest.FixtureRequest) -> Path:
    return EXAMPLES / str(request.param)


def trl_bytes(rows: Rows, **state: object) -> bytes:
    history = [{**values, "step": step} for step, values in rows]
    return json.dumps({"global_step": 0, "max_steps": 1000, **state, "log_history": history}).encode()


def verl_bytes(rows: Rows) -> bytes:
    return b"".join(json.dumps({"step": step, "data": dict(values)}).encode() + b"\n" for step, values in rows)


@pytest.fixture
def trl(tmp_path: Path) -> Callable[..., Path]:
    """Writes a TRL log and returns its path."""

    def write(rows: Rows, **state: object) -> Path:
        path = tmp_path / "trainer_state.json"
        path.write_bytes(trl_bytes(rows, **state))
        return path

    return write


@pytest.fixture
def verl(tmp_path: Path) -> Callable[[Rows], Path]:
    """Writes a verl log and returns its path."""

    def write(rows: Rows) -> Path:
        path = tmp_path / "metrics.jsonl"
        path.write_bytes(verl_bytes(rows))
        return path

    return write
