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
import pathlib, signal, sys

def save(number, frame):
    pathlib.Path(sys.argv[1]).write_text("saved")
    sys.exit(0)

log = open(sys.argv[2], "a")  # as a trainer holds its own; which rows come when is said by the test
signal.signal(signal.SIGTERM, save)
print("training", flush=True)
for row in sys.stdin:
    log.write(row)
    log.flush()
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
        self.begun: list[subprocess.Popen[bytes]] = []
        self.training = self.train()
        self.options = ["--headless", "--state", str(self.state), "--act", f"sigterm:{self.training.pid}", *options]
        self.watch: subprocess.Popen[bytes] | None = None

    def train(self) -> subprocess.Popen[bytes]:
        words = [self.folder.parent / "checkpoint", self.folder / "metrics.jsonl"]
        training = subprocess.Popen(
            [sys.executable, "-c", TRAINER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.begun.append(training)
        assert training.stdout is not None
        assert training.stdout.readline() == b"training\n"
        return training

    def log(self, step: int) -> None:
        """Write the rows up to a step."""
        upto = next(place for place, row in enumerate(self.rows, 1) if json.loads(row)["step"] >= step)
        self.write(self.training, self.rows[self.written : upto])
        self.written = upto

    @staticmethod
    def write(training: subprocess.Popen[bytes], rows: list[bytes]) -> None:
        assert training.stdin is not None
        training.stdin.write(b"".join(rows))
        training.stdin.flush()

    def begin(self, *more: str) -> None:
        with self.said.open("ab") as said:
            self.watch = subprocess.Popen(
                [sys.executable, "-m", "leadline", "watch", str(self.folder), *more, *self.options],
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

    def end(self) -> None:
        """Ask the watch to end: what it had to do is done by then."""
        assert self.watch is not None
        self.watch.terminate()
        assert self.watch.wait(PATIENCE) == 0, self.said.read_text()

    def close(self) -> None:
        for process in (*self.begun, self.watch):
            if process is not None:
                process.kill()
                process.communicate()


def looked(step: int) -> Callable[[Store], bool]:
    return lambda base: any(look.step >= step for run in base.names().values() for look in base.looks(run))


def actions(base: Store) -> list[dict[str, object]]:
    return [action for run in base.names().values() for _, action in base.actions(run)]


@pytest.fixture
def watching(root: Path, tmp_path: Path) -> Iterator[Watching]:
    one = Watching(root / "leadline" / "examples" / "collapsed", tmp_path / "run", "--no-dry-run")
    yield one
    one.close()


def test_a_lost_training_is_asked_to_end_and_judged_anew_once_it_is_resumed(watching: Watching, tmp_path: Path) -> None:
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
        (done,) = (action for action in actions(base) if action["state"] == "sent")
        looks = [look for run in base.names().values() for look in base.looks(run)]
    earlier, later = ([look for look in looks if (look.step < 205) is before] for before in (True, False))
    assert str(done["says"]).startswith(f"Has sent SIGTERM to process {one.training.pid}")
    assert "all recommend stopping" in str(done["why"])
    assert earlier
    for look in earlier:  # it may well be said that a reward at its ceiling will not rise; nothing is found against it
        judgement = json.loads(look.reading)["judgement"]
        assert (judgement["verdict"] == "roll_back", judgement["because"]) == (False, [])
    later = [look for look in later if look.step >= 230]  # what is done rests on these
    assert later
    assert all(look.verdict == "roll_back" and json.loads(look.reading)["judgement"]["because"] for look in later)
    assert int(str(done["step"])) > 205
    (tmp_path / "checkpoint").unlink()
    again = one.train()
    sound = [json.loads(row) for row in one.rows if json.loads(row)["step"] <= 175]
    rows = ({**sound[126 + (step % 49)], "step": step} for step in range(126, 360))
    one.write(again, [json.dumps(row).encode() + b"\n" for row in rows])  # back to step 126, without the fault
    one.wait_until(
        lambda base: any(
            look.life == 1 and look.step > 320 for run in base.names().values() for look in base.looks(run)
        )
    )
    one.end()
    assert again.poll() is None
    with Store(one.state, write=False) as base:
        assert [action["state"] for action in actions(base)][:3] == ["begun", "sent", "done"]
        assert all(action["state"] != "sent" for action in actions(base)[3:])


def test_a_watch_that_was_killed_before_it_acted_acts_when_it_is_started_again(watching: Watching) -> None:
    """The look that reaches the bar is written down, and there the watch is killed."""
    one = watching
    one.log(245)
    one.options.remove("--no-dry-run")  # what it would do is not done yet, and everything else is as it will be
    one.begin()
    one.wait_until(looked(230))
    one.log(300)
    one.wait_until(lambda base: any(action["state"] == "dry" for action in actions(base)))
    assert one.watch is not None
    one.watch.kill()
    one.watch.wait()
    assert one.training.poll() is None
    one.options.append("--no-dry-run")
    one.begin()
    assert one.training.wait(PATIENCE) == 0
