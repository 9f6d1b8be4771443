"""The last answer of the sidecar, read from inside at the price of one `stat` a step."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

ENDS = ("stop", "roll_back")  # the verdicts that may end a run
LARGEST = 1 << 20  # bytes; an answer has a few hundred


class Answer:
    """The answer file of a watch. One that is missing, torn, or strange says nothing, and so does an answer to an
    earlier process: a run that was stopped and resumed would be stopped again by what was said of it before."""

    def __init__(self, path: Path, *, token: str | None = None) -> None:
        """`token`: of this process, as its journal has it; without it any answer counts."""
        self._path = os.fspath(path)
        self._token, self._since = token, time.time()
        self._seen: tuple[int, int, int] | None = None
        self.latest: Mapping[str, object] = {}

    def changed(self) -> bool:
        """Return whether there is a newer answer than the last one asked for; `latest` holds it."""
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
        runs = told.get("runs", [told]) if isinstance(told, dict) else []
        if not isinstance(runs, list) or len(runs) != 1 or not isinstance(runs[0], dict) or not self._is_ours(runs[0]):
            return False
        self.latest = runs[0]
        return True

    def _is_ours(self, found: Mapping[str, object]) -> bool:
        """Return whether it speaks to this process; one without an addressee must at least be younger than we are."""
        if self._token is None:
            return True
        if (to := found.get("to")) is not None:
            return to == self._token
        at = found.get("at")
        return isinstance(at, (int, float)) and at >= self._since

    @property
    def acts(self) -> bool:
        """Return whether the watch holds the run to be over, by the stricter bar for acting (docs/live.md)."""
        return self.latest.get("act") is True and self.latest.get("verdict") in ENDS

    @property
    def says(self) -> str:
        """Return the answer in words, with the path of the best checkpoint if they don't name it."""
        said = str(self.latest.get("says") or self.latest.get("verdict") or "")
        path = self.best[1]
        return said if path is None or path in said else f"{said.rstrip('.')}. It is at {path}."

    @property
    def best(self) -> tuple[int | None, str | None]:
        """Return the step and the path of the checkpoint it advises to keep, as far as they are known."""
        best = self.latest.get("best_checkpoint")
        step, path = (best.get("step"), best.get("path")) if isinstance(best, Mapping) else (None, None)
        return step if isinstance(step, int) else None, path if isinstance(path, str) and path else None
