"""The whole way: a log grows, a watch looks, and a training that is lost is asked to end while a sound one is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadline.live.store import Store

TRAINER = """
import pathlib, signal, sys, time

def save(number, frame):
    pathlib.Path(sys.argv[1]).write_text("saved")
    sys.exit(0)

signal.signal(signal.SIGTERM, save)
print("training", flush=True)
time.sleep(600)
"""
PATIENCE = 240  # seconds: the machine may be busy


class Watching:
    """A training whose log the test writes, and `leadline watch` beside it."""

    def __init__(self, example: Path, folder: Path, *options: str) -> None:
        self.folder, self.state, self.said = folder, folder.parent / "state.db", folder.parent / "said"
        folder.mkdir()
        shutil.copy(example / "config.json", folder)
        self.rows = (example / "metrics.jsonl").read_bytes().splitlines(keepends=True)
        self.written = 0
        checkpoint = folder.parent / "checkpoint"
        self.training = subprocess.Popen([sys.executable, "-c", TRAINER, checkpoint], stdout=subprocess.PIPE)
        assert self.training.stdout is not None
        assert self.training.stdout.readline() == b"training\n"
        self.options = ["--headless", "--state", str(self.state), "--act", f"sigterm:{self.training.pid}", *options]
        self.watch: subprocess.Popen[bytes] | None = None

    def log(self, step: int) -> None:
        """Write the rows up to a step."""
        upto = next(place for place, row in enumerate(self.rows, 1) if json.loads(row)["step"] >= step)
        with (self.folder / "metrics.jsonl").open("ab") as log:
            log.write(b"".join(self.rows[self.written : upto]))
        self.written = upto

    def begin(self) -> None:
        with self.said.open("wb") as said:
            self.watch = subprocess.Popen(
                [sys.executable, "-m", "leadline", "watch", str(self.folder), *self.options],
                stdout=said,
                stderr=said,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )

    def wait_until(self, reached: Callable[[Store], bool]) -> None:
        """Until the state file says so."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.state.exists():
                try:
                    with Store(self.state, write=False) as base:
                        if reached(base):
                            return
                except Exception:  # it is being made
                    pass
            time.sleep(0.1)
        raise AssertionError(self.said.read_text())

    def close(self) -> None:
        for process in (self.training, self.watch):
            if process is not None:
                process.kill()
                process.wait()
        assert self.training.stdout is not None
        self.training.stdout.close()


def looked(step: int) -> Callable[[Store], bool]:
    return lambda base: any(look.step >= step for run in base.names().values() for look in base.looks(run))


def actions(base: Store) -> list[dict[str, object]]:
    return [action for run in base.names().values() for _, action in base.actions(run)]


@pytest.fixture
def watching(root: Path, tmp_path: Path) -> Iterator[Watching]:
    one = Watching(root / "leadline" / "examples" / "collapsed", tmp_path / "run", "--no-dry-run")
    yield one
    one.close()


def test_a_training_is_asked_to_end_once_it_is_lost_and_not_while_it_is_sound(
    watching: Watching, tmp_path: Path
) -> None:
    one = watching
    one.log(190)  # before it falls, at step 205
    one.begin()
    one.wait_until(looked(170))
    assert one.training.poll() is None
    one.log(245)
    one.wait_until(looked(230))
    one.log(300)
    assert one.training.wait(PATIENCE) == 0
    assert (tmp_path / "checkpoint").read_text() == "saved"
    one.wait_until(lambda base: any(action["state"] == "done" for action in actions(base)))
    with Store(one.state, write=False) as base:
        (done,) = (action for action in actions(base) if action["state"] == "done")
        earlier = [look for run in base.names().values() for look in base.looks(run) if look.step < 205]
    assert str(done["says"]).startswith(f"Has sent SIGTERM to process {one.training.pid}")
    assert "all say that the run should end" in str(done["why"])
    assert earlier
    assert all(look.verdict in ("continue", "undecided") for look in earlier)
