"""The checkpoint that is recommended, kept from a trainer that deletes the oldest whenever it saves."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from .keep import keep, let_go, part
from .quiet import LOGGER, complain

AGAIN = 30.0  # seconds after which what could not be made safe is tried again
MOST = 3  # checkpoints that are kept at a time: the advice may change, and change back


class Keeper:
    """Keeps what the answers advise to go back to. Links are laid at once; a copy, where a disk has no links, is made
    by a thread of its own: a training of many processes must not wait for it."""

    def __init__(self, output: Path, *, rotates: bool) -> None:
        """`rotates`: the trainer deletes old checkpoints."""
        self._output, self._rotates = output, rotates
        self._kept: dict[str, Path] = {}  # by the path that was advised, the latest last
        self._next = float("-inf")
        self._copying: threading.Thread | None = None
        self._said = False

    def protect(self, path: str) -> None:
        """Make the checkpoint at `path` safe; one that the trainer does not delete is."""
        if not self.is_at_risk(path) or path in map(str, self._kept.values()):
            return
        if path in self._kept:
            self._kept[path] = self._kept.pop(path)  # the latest
            return
        if time.monotonic() < self._next or (self._copying is not None and self._copying.is_alive()):
            return
        kept = keep(Path(path), self._output)
        if kept is not None:
            self._take(path, kept)
            return
        self._next = time.monotonic() + AGAIN
        self._copying = threading.Thread(target=self._copy, args=(path,), name="leadline-keeps", daemon=True)
        self._copying.start()

    def safe(self, path: str) -> str | None:
        """Where the checkpoint at `path` is safe; None where it is not."""
        if path in map(str, self._kept.values()) or not self.is_at_risk(path):
            return path
        kept = self._kept.get(path)
        return None if kept is None else str(kept)

    @property
    def latest(self) -> str | None:
        """The last one that was kept, if it is still there."""
        return next((str(kept) for kept in reversed(self._kept.values()) if kept.is_dir()), None)

    def is_at_risk(self, path: str) -> bool:
        """Whether the trainer could delete it: it lies right in its folder."""
        if not self._rotates:
            return False
        try:
            return Path(path).resolve().parent == self._output.resolve()
        except OSError:
            return True

    def before_saving(self, name: str) -> None:
        """The trainer is about to save under this name."""
        try:
            part(self._output / name, self._output)
        except OSError as error:
            complain("what is kept could not be parted from a checkpoint of the same name", error)

    def _copy(self, path: str) -> None:
        try:
            kept = keep(Path(path), self._output, copy=True)
        except Exception as error:
            complain("the recommended checkpoint could not be copied", error)
            return
        if kept is not None:
            self._take(path, kept)
        elif not self._said:
            self._said = True
            LOGGER.warning("leadline: %s could not be kept out of the rotation; it is tried again.", path)

    def _take(self, path: str, kept: Path) -> None:
        self._kept[path] = kept
        for advised in list(self._kept)[:-1]:
            if Path(advised).is_dir() or len(self._kept) > MOST:  # with the first name there nothing is lost
                let_go(self._kept.pop(advised))
