"""What the looker last said, read from inside at the price of one `stat` a step."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

LARGEST = 1 << 20  # bytes; an answer has a few hundred


class Answer:
    """The answer file of a watch. A file that is not there, torn or strange says nothing."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
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
        if found is None:
            return False
        self.latest = found
        return True

    @property
    def acts(self) -> bool:
        """Whether the watch holds the run to be over, by the stricter bar that acting has (docs/live.md)."""
        return self.latest.get("act") is True

    @property
    def says(self) -> str:
        """The answer in words."""
        said = str(self.latest.get("says") or self.latest.get("verdict") or "")
        best = self.latest.get("best_checkpoint")
        path = best.get("path") or best.get("step") if isinstance(best, Mapping) else best
        return f"{said} Best checkpoint: {path}." if path is not None else said


def _of_one_run(told: object) -> Mapping[str, object] | None:
    """The answer about the one run a looker watches: the object itself, or the only one below `runs`."""
    if not isinstance(told, dict):
        return None
    runs = told.get("runs")
    if isinstance(runs, dict):
        runs = list(runs.values())
    if isinstance(runs, list):
        return runs[0] if len(runs) == 1 and isinstance(runs[0], dict) else None
    return told
