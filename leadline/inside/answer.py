"""What the sidecar last said, read from inside at the price of one `stat` a step."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

ENDS = ("stop", "roll_back")  # the verdicts that may end a run
LARGEST = 1 << 20  # bytes; an answer has a few hundred


class Answer:
    """The answer file of a watch. A file that is not there, torn or strange says nothing, and so does an answer to an
    earlier process: a run that was stopped and resumed would be stopped again by what was said of it before."""

    def __init__(self, path: Path, *, token: str | None = None) -> None:
        """`token`: of this process, as its journal has it; without it any answer counts."""
        self._path = os.fspath(path)
        self._token, self._since = token, time.time()
        self._seen: tuple[int, int, int] | None = None
        self.latest: Mapping[str, object] = {}

    def changed(self) -> bool:
        """Whether there is a newer answer than the last one asked for; `latest` holds it."""
        try:
            state = os.stat(self._path)  # noqa: PTH116 - half the price of Path.stat, at every step
        except OSError:
            return False
        seen = (state.st_ino, state.st_mtime_ns, state.st_size)
        if seen == self._seen:
            return False
        self._seen = seen
        try:
            with open(self._path, "rb") as file:  # noqa: PTH123
                told = json.loads(file.read(LARGEST))
        except (OSError, ValueError, RecursionError):
            return False
        found = _of_one_run(told)
        if found is None or not self._is_ours(found):
            return False
        self.latest = found
        return True

    def _is_ours(self, found: Mapping[str, object]) -> bool:
        """Whether it speaks to this process. One that does not say to whom must at least be younger than we are."""
        if self._token is None:
            return True
        if (to := found.get("to")) is not None:
            return to == self._token
        at = found.get("at")
        return isinstance(at, (int, float)) and at >= self._since

    @property
    def acts(self) -> bool:
        """Whether the watch holds the run to be over, by the stricter bar that acting has (docs/live.md)."""
        return self.latest.get("act") is True and self.latest.get("verdict") in ENDS

    @property
    def says(self) -> str:
        """The answer in words. They name the best checkpoint themselves; where it lies is added."""
        said = str(self.latest.get("says") or self.latest.get("verdict") or "")
        path = self.best_path
        return said if path is None or path in said else f"{said} It is at {path}."

    @property
    def best_path(self) -> str | None:
        """Where the checkpoint lies that it advises to keep."""
        best = self.latest.get("best_checkpoint")
        path = best.get("path") if isinstance(best, Mapping) else None
        return path if isinstance(path, str) and path else None

    @property
    def best_step(self) -> int | None:
        best = self.latest.get("best_checkpoint")
        step = best.get("step") if isinstance(best, Mapping) else None
        return step if isinstance(step, int) else None


def _of_one_run(told: object) -> Mapping[str, object] | None:
    """The answer about the one run a sidecar watches: the object itself, or the only one below `runs`."""
    if not isinstance(told, dict):
        return None
    runs = told.get("runs")
    if isinstance(runs, dict):
        runs = list(runs.values())
    if isinstance(runs, list):
        return runs[0] if len(runs) == 1 and isinstance(runs[0], dict) else None
    return told
