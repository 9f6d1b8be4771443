"""Whether a watch is alive, for whoever depends on it: monitors were found to have been dead for days.

A watch touches a file every few seconds and is listed in the user's folder for as long as it goes on. One that ended in
order takes itself off the list; one that was killed stays on it, and is found dead.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..state import state_folder
from .acting.process import look, supported

EVERY = 5.0  # seconds between two beats
STALE = 60.0  # seconds without one after which a watch counts as dead


@dataclass(frozen=True, slots=True)
class Listed:
    """A watch that was begun and has not ended in order."""

    pid: int
    started: str
    state: Path
    paths: tuple[str, ...]
    since: float
    beat_at: float | None
    file: Path

    def alive(self, now: float) -> bool:
        """Whether it still goes on: the process is there, and beats."""
        found = look(self.pid) if supported() else None
        if supported() and (found is None or found.identity.started != self.started):
            return False
        return self.beat_at is not None and abs(now - self.beat_at) < STALE


class Heartbeat:
    """The sign of life of this watch."""

    def __init__(self, state: Path, paths: Sequence[str], *, also: Path | None = None) -> None:
        """`also`: a file beside the run that is touched too, for the training to see."""
        self._file = _folder() / f"{os.getpid()}.json"
        self._files = [self._file, *([also] if also is not None else [])]
        self._next = float("-inf")
        found = look(os.getpid()) if supported() else None
        self._content = json.dumps(
            {
                "pid": os.getpid(),
                "started": "" if found is None else found.identity.started,
                "state": str(state.absolute()),
                "paths": list(paths),
                "since": time.time(),
            }
        )

    def __enter__(self) -> Heartbeat:
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file.write_text(self._content)
        self.beat()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)

    def beat(self) -> None:
        """Show a sign of life, every few seconds at most. A disk that is full or gone does not end a watch."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY
        for file in self._files:
            with contextlib.suppress(OSError):
                try:
                    os.utime(file)
                except FileNotFoundError:
                    file.touch()


def listed() -> list[Listed]:
    """Every watch of this user that has not ended in order."""
    found = []
    for file in sorted(_folder().glob("*.json")) if _folder().is_dir() else ():
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            data = json.loads(file.read_bytes())
            found.append(
                Listed(
                    int(data["pid"]),
                    str(data["started"]),
                    Path(str(data["state"])),
                    tuple(map(str, data["paths"])),
                    float(data["since"]),
                    file.stat().st_mtime,
                    file,
                )
            )
    return found


def as_data(watch: Listed, now: float) -> dict[str, object]:
    """The same as plain data."""
    return {
        "alive": watch.alive(now),
        "pid": watch.pid,
        "paths": list(watch.paths),
        "state": str(watch.state),
        "since": watch.since,
        "beat_at": watch.beat_at,
    }


def _folder() -> Path:
    return state_folder() / "watches"
