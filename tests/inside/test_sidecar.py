"""The sidecar looks while a real process writes, and is gone when that process is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from extras import needs
from waiting import PATIENCE, wait_for

from leadline.inside import sidecar
from leadline.inside.journal import started_at
from leadline.inside.sidecar import alive

psutil = needs("psutil", "record")
REPOSITORY = Path(__file__).parents[2]

TRAIN = """
import sys, time, random, leadline
run = leadline.attach("run", sys.argv[1], planned_steps=1000)
rng = random.Random(0)
for step in range(1, 121):
    run.log(step, {"reward": 1 - 0.99 ** step + rng.gauss(0, 0.02), "kl": step / 1000, "loss": rng.gauss(0, 1)})
print("written", flush=True)
ends = sys.argv[2]
while ends == "hangs" or not run.answer:
    time.sleep(0.05)
print(run.answer["verdict"], flush=True)
"""


def watching(folder: Path) -> list[Any]:
    """Every process of ours that was started for the journals below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "pid"]):
        words = process.info["cmdline"] or []
        if "leadline.inside.sidecar" in words and any(str(folder) in word for word in words):
            found.append(process)
    return found


@pytest.fixture
def train(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    begun: list[subprocess.Popen[str]] = []

    def start(ends: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", TRAIN, str(tmp_path), ends],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        return process

    yield start
    for process in begun:  # and with it goes its sidecar
        process.kill()
        process.communicate()


def test_a_run_is_looked_at_to_its_last_row_and_then_left_alone(
    train: Callable[[str], subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = train("ends when it was answered")
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.strip() in ("continue", "undecided")
    wait_for(lambda: not watching(tmp_path))
    answer = json.loads((tmp_path / "run" / "answer.json").read_text())
    assert answer["step"] == 120
    assert answer["act"] is False
    assert (tmp_path / "run" / "state.db").exists()


def test_the_sidecar_of_a_process_that_was_killed_goes_too_and_was_never_its_child(
    train: Callable[[str], subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = train("hangs")
    wait_for(lambda: (tmp_path / "run" / "sidecar.alive").exists())
    assert psutil.Process(process.pid).children(recursive=True) == []
    claim = psutil.Process(process.pid).nice()
    wait_for(lambda: all(one.nice() > claim or claim == 19 for one in watching(tmp_path)))  # it says so as it starts
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    wait_for(lambda: not watching(tmp_path))


def test_a_number_that_another_process_took_is_not_the_run() -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        started = started_at(process.pid)
        assert alive(process.pid, started)
        assert not alive(process.pid, str(int(started) - 1))
        process.kill()
        wait_for(lambda: not alive(process.pid, started))  # it is a zombie until somebody asks how it ended
    finally:
        process.kill()
        process.wait()


KILLED = """
import logging, sys, time, leadline
from leadline.inside import sidecar
sidecar.LOOKED_AT, sidecar.DEAD = 0.2, 2.0
logging.basicConfig(format="%(message)s", stream=sys.stdout, level=logging.WARNING)
run = leadline.attach("run", sys.argv[1], planned_steps=100000)
for step in range(1, 100000):
    run.log(step, {"reward": step / 1000})
    time.sleep(0.2)
"""


def test_a_sidecar_that_is_killed_is_started_again_and_that_is_said(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", KILLED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(lambda: (tmp_path / "run" / "sidecar.alive").exists())
        killed = {one.pid for one in watching(tmp_path)}
        for one in watching(tmp_path):
            one.kill()
        assert process.stdout is not None
        assert "no sign of the sidecar for 2 s; starting it again" in process.stdout.readline()
        wait_for(lambda: len({one.pid for one in watching(tmp_path)} - killed) >= 1)
    finally:
        process.kill()
        process.communicate()
        wait_for(lambda: not watching(tmp_path))


def test_a_sidecar_is_not_started_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now, started = [0.0], []
    monkeypatch.setattr("leadline.inside.sidecar.time.monotonic", lambda: now[0])
    monkeypatch.setattr("leadline.inside.sidecar.Sidecar.start", lambda _: started.append(now[0]))
    monkeypatch.setattr("leadline.inside.sidecar.threading.Thread", Now)
    beside = sidecar.Sidecar(tmp_path)
    beside.start()
    for _ in range(200):
        now[0] += 10
        beside.check()
    assert len(started) == 1 + sidecar.RESTARTS
    assert sum("this run is no longer checked" in record.getMessage() for record in caplog.records) == 1


def test_a_sidecar_that_beats_is_left_alone_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, started = [0.0], []
    monkeypatch.setattr("leadline.inside.sidecar.time.monotonic", lambda: now[0])
    monkeypatch.setattr("leadline.inside.sidecar.Sidecar.start", lambda _: started.append(now[0]))
    beside = sidecar.Sidecar(tmp_path)
    beat = tmp_path / "sidecar.alive"
    beat.touch()
    for at in range(200):
        now[0] += 10
        wall = 1.8e9 - 86400 * (at > 50) + at  # and then it is set back by a day
        os.utime(beat, (wall, wall))
        beside.check()
    assert started == []


class Now:
    """A thread that is over when it was started."""

    def __init__(self, target: Callable[[], None], **_: object) -> None:
        self.start = target
