"""Show whether a watch is alive, for whoever depends on it.

A watch touches a file in the user's folder every few seconds and removes it when it ends cleanly. The file of one that
was killed stays, and is found dead.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from ..digits import dated
from ..inside.journal import began
from ..records import dataclass
from ..report.lines import field
from ..state import state_folder
from ..words.serve import ago

EVERY = 5.0  # seconds between two beats
STALE = 60.0  # seconds without one after which a watch counts as dead


@dataclass(frozen=True, slots=True)
class Listed:
    """A watch that was started and has not ended cleanly."""

    pid: int
    started: str
    state: Path
    paths: tuple[str, ...]
    since: float
    beat_at: float
    file: Path

    def alive(self, now: float) -> bool:
        """Return whether the process exists and beats."""
        return abs(now - self.beat_at) < STALE and began(self.pid) == self.started


class Heartbeat:
    """The sign of life of this watch."""

    def __init__(self, state: Path, paths: Sequence[str], *, also: Path | None = None) -> None:
        """`also`: a file beside the run that is touched too, for the training to see."""
        self._file = _folder() / f"{os.getpid()}.json"
        self._files = [self._file, *([also] if also is not None else [])]
        self._next = float("-inf")
        self._content = {
            "pid": os.getpid(),
            "started": began(os.getpid()),
            "state": str(state.absolute()),
            "paths": list(paths),
            "since": time.time(),
        }

    def __enter__(self) -> Heartbeat:
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file.write_text(json.dumps(self._content))
        self.beat()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)

    def beat(self) -> None:
        """Show a sign of life, every few seconds at most. A full disk does not end a watch."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY
        for file in self._files:
            with contextlib.suppress(OSError):
                file.touch()


def listed() -> list[Listed]:
    """Return every watch of this user that has not ended cleanly."""
    found = []
    for file in sorted(_folder().glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            data = json.loads(file.read_bytes())
            state, paths, since = Path(str(data["state"])), tuple(map(str, data["paths"])), float(data["since"])
            beat_at = file.stat().st_mtime
            found.append(Listed(int(data["pid"]), str(data["started"]), state, paths, since, beat_at, file))
    return found


def as_data(watch: Listed, now: float) -> dict[str, object]:
    """Return it as plain data."""
    kept = {name: getattr(watch, name) for name in ("pid", "since", "beat_at")}
    return {"alive": watch.alive(now), **kept, "paths": list(watch.paths), "state": str(watch.state)}


def watches_lines(found: Sequence[Listed], now: float) -> Iterator[tuple[str, Text]]:
    """Yield every watch that was started and has not ended cleanly."""
    if not found:
        yield field("", "No watch is running, and none has died.")
    for watch in found:
        alive = watch.alive(now)
        yield field("alive" if alive else "dead", ", ".join(watch.paths), "green" if alive else "bold red")
        since = f"process {watch.pid} since {dated(watch.since)}"
        yield field("", f"{since}, last heartbeat {ago(watch.beat_at, now)}; state {watch.state}")
        if not alive:
            yield field("", f"These runs are no longer watched. Restart the watch, or delete {watch.file}.")


def _folder() -> Path:
    return state_folder() / "watches"
