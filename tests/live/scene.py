"""A run with a real training, what an actor needs to act on it, and processes beside it."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from leadline.live.acting.actor import Actor
from leadline.live.acting.orders import Decision, Life, parse
from leadline.live.acting.process import below, everything
from leadline.live.acting.writer import RunFiles
from leadline.live.store import Store

TRAINER = """
import os, signal, sys, time

log = open(sys.argv[1], "a")

def save(number, frame):
    with open(sys.argv[2], "a") as out:
        out.write(f"signal {number}\\n")
    if len(sys.argv) > 3:
        time.sleep(float(sys.argv[3]))
    sys.exit(0)

signal.signal(signal.SIGTERM, save)
signal.signal(signal.SIGINT, save)
os.write(1, b"training\\n")  # in one piece: print() writes its line end apart, and two ranks share the pipe
while True:
    log.write('{"step": 1}\\n')
    log.flush()
    time.sleep(0.05)
"""
ENOUGH = Decision(True, "roll_back", 220, "3 looks from step 180 to 220 all say that the run should end", "ckpt/125")
NOT_YET = Decision(False, "undecided", 220, "", None)


class Scene:
    """A run with a training, and what an actor needs to act on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log, self.saved = folder / "metrics.jsonl", folder / "saved"
        self.log.touch()
        self.store = Store(folder / "state.db")
        self.begun: list[subprocess.Popen[str]] = []

    @property
    def run(self) -> RunFiles:
        return RunFiles((self.log,), dates=((time.time() + 1, 0),))  # all came while whoever is there ran

    def train(self, *words: str, through: str = "{}", **options: object) -> subprocess.Popen[str]:
        """Start a training, as a command of a shell where `through` says how."""
        command = [sys.executable, "-u", "-c", TRAINER, str(self.log), str(self.saved), *words]
        shown = shlex.join(command)
        given = command if through == "{}" else ["/bin/bash", "-c", through.format(shown)]
        process = subprocess.Popen(given, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]
        self.begun.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "training\n"
        return process

    def actor(self, order: str, **options: object) -> Actor:
        return Actor(self.store, parse(order), dry=False, **options)  # type: ignore[arg-type]

    def life(self, name: str = "run", **where: int) -> Life:
        return Life(self.store.run(name, 0.0), name, **where)

    def states(self, name: str = "run") -> list[object]:
        return [action["state"] for _, action in self.store.actions(self.store.names()[name])]

    def signals(self) -> list[str]:
        return self.saved.read_text().splitlines() if self.saved.exists() else []

    def close(self) -> None:
        self.store.close()
        for process in self.begun:
            # One that has ended may have left its number to somebody else.
            for pid in descendants(process.pid) if process.poll() is None else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.kill()
            process.communicate()


def descendants(pid: int) -> list[int]:
    return [process.pid for process in below(pid, everything())]
