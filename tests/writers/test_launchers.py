"""The real launchers: they are refused, and who trains is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from writers.launch import PROGRAMS, environment

from leadline.live.acting import actor as actors
from leadline.live.acting.actor import Actor
from leadline.live.acting.orders import Decision, Life, parse
from leadline.live.acting.process import below, everything
from leadline.live.acting.writer import RunFiles
from leadline.live.store import Store

pytestmark = pytest.mark.writers

ENOUGH = Decision(True, "roll_back", 220, "3 looks all say that the run should end", None)
TRAIN = str(PROGRAMS / "train_ranks.py")
LAUNCHERS = {
    "torchrun": [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", TRAIN],
    "accelerate launch": [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1",
                          "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", TRAIN],
    "bash train.sh": ["/bin/bash", "-c", '"$@"; echo next', "train.sh", sys.executable, TRAIN],
}  # fmt: skip


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_launcher_is_refused_and_its_training_goes_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actors, "LATER", 5.0)
    ranks = ("0", "1") if name == "torchrun" else ("0",)
    launcher = subprocess.Popen(
        [*LAUNCHERS[name], str(tmp_path)], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: all((tmp_path / f"{rank}.up").exists() for rank in ranks))
        log = tmp_path / "metrics.jsonl"
        wait_for(lambda: log.exists() and log.stat().st_size > 0)
        said = []
        with Store(tmp_path / "state.db") as store:
            actor = Actor(store, parse(f"sigterm:{launcher.pid}"), dry=False)
            life = Life(store.run("run", 0.0), "run")

            def over() -> bool:
                found = actor.consider(life, ENOUGH, RunFiles((log,)))
                if found is not None:
                    said.append(found)
                return bool(said) and said[-1].state in ("done", "refused", "failed")

            wait_for(over)
        assert [one.state for one in said] == ["refused"], said
        assert not list(tmp_path.glob("*.signals"))
        assert launcher.poll() is None
    finally:
        for process in below(launcher.pid, everything()) if launcher.poll() is None else ():
            os.kill(process.pid, signal.SIGKILL)
        launcher.kill()
        launcher.wait()


def wait_for(true: object, patience: float = 120.0) -> None:
    until = time.monotonic() + patience
    while not true():  # type: ignore[operator]
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)
