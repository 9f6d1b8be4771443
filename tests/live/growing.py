"""Runs that grow: a finished run written again piece by piece, as its trainer wrote it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from waiting import wait_for

from leadline.live.store import Store
from leadline.live.watch import Watch


class Growing:
    """A copy of a finished run that stands at some row of its log."""

    def __init__(self, finished: Path, place: Path) -> None:
        self.finished, self.place = finished, place
        place.mkdir(parents=True)
        shutil.copy(finished / "config.json", place)
        (place / "rollouts").mkdir()
        self._lines = (finished / "metrics.jsonl").is_file()
        if self._lines:
            self._log = (finished / "metrics.jsonl").read_bytes()
            self._rows = self._log.splitlines(keepends=True)
            self._steps = [int(json.loads(row)["step"]) for row in self._rows]
        else:
            self._state = json.loads((finished / "trainer_state.json").read_bytes())
            self._steps = [int(row["step"]) for row in self._state["log_history"]]
        self._samples = sorted((finished / "rollouts").glob("*.jsonl"), key=lambda file: int(file.stem))

    def __len__(self) -> int:
        return len(self._steps)

    def grow(self, rows: int, *, torn: int = 0) -> None:
        """Stand at so many rows, and `torn` bytes of the next one where the format is written by lines. Samples are
        there before their row is, as trainers write them."""
        last = self._steps[rows - 1]
        for file in self._samples:
            if int(file.stem) <= last and not (self.place / "rollouts" / file.name).exists():
                shutil.copy(file, self.place / "rollouts")
        if self._lines:
            size = sum(len(row) for row in self._rows[:rows]) + torn
            log = self.place / "metrics.jsonl"
            with log.open("ab") as out:
                out.write(self._log[out.tell() : size])
        else:
            beside = self.place / "trainer_state.new"
            beside.write_bytes(json.dumps({**self._state, "log_history": self._state["log_history"][:rows]}).encode())
            beside.replace(self.place / "trainer_state.json")


def write_rows(log: Path, steps: Sequence[int], *, seed: int = 0, fall_after: int | None = None) -> None:
    """Append rows of a small made-up run: a reward that rises and may fall, a KL, a length."""
    with log.open("ab") as out:
        for step in steps:
            rng = np.random.default_rng([seed, step])  # the same row however many are written at once
            level = 1 - np.exp(-min(step, fall_after or step) / 60)
            if fall_after is not None and step > fall_after:
                level -= 0.9 * min(1.0, (step - fall_after) / 20)  # and stays there
            row = {
                "critic/score/mean": level + 0.05 * rng.standard_normal(),
                "actor/ppo_kl": 0.001 + 0.0001 * rng.standard_normal(),
                "actor/kl_loss": 0.002 * step + 0.01 * abs(rng.standard_normal()),
                "response_length/mean": 200 + 10 * rng.standard_normal(),
            }
            out.write(json.dumps({"step": int(step), "data": row}).encode() + b"\n")


def settle(watch: Watch, *, patience: float = 240.0) -> None:
    """Follow once and wait until every look that is due was made."""
    watch.tick(force=True)
    wait_for(watch.idle, patience)


def looks(store: Store) -> list[tuple[str, int, int, str]]:
    return [(one.run, one.life, one.step, one.why) for number in store.names().values() for one in store.looks(number)]
