"""The checkpoint that is recommended, kept from a trainer that deletes the oldest whenever it saves."""

from __future__ import annotations

import re
import shutil
import threading
import time
from pathlib import Path

from .keep import keep, let_go, part, size_of
from .quiet import LOGGER, complain

AGAIN = 30.0  # seconds after which what could not be made safe is tried again
MOST = 2  # checkpoints that are kept at a time: what is recommended, and one more, since the advice may change back
SPARE = 2  # checkpoints that must find room on the disk beside a copy; with less, only the recommended one is kept


class Keeper:
    """Keeps what the answers advise to go back to. Links are laid at once; a copy, where a disk has no links, is made
    by a thread of its own: a training of many processes must not wait for it."""

    def __init__(self, output: Path, *, rotates: bool) -> None:
        """`rotates`: the trainer deletes old checkpoints."""
        self._output, self._rotates = output, rotates
        self._kept: dict[str, Path] = {}  # by the path that was advised, the latest last
        self._next = float("-inf")
        self._copying: threading.Thread | None = None
        self._said: set[str] = set()

    def advised(self, step: int | None, path: str | None) -> str | None:
        """What to keep of what an answer advises: that very checkpoint, or where it is gone the one that is nearest to
        it, rather before it than after; None where there is none."""
        if path is not None and (Path(path).is_dir() or path in self._kept):
            return path
        left = {int(found[1]): str(one) for one in self._saved() if (found := re.search(r"-(\d+)(?:-\d+)?$", one.name))}
        if step is None or not left:
            return None
        nearest = left[min(left, key=lambda one: (one > step, abs(one - step)))]
        self._say(f"the recommended checkpoint of step {step} is not there any more; {nearest} is kept in its place.")
        return nearest

    def _saved(self) -> list[Path]:
        """The checkpoints that are there: what is kept, and what the trainer has."""
        kept = [one for one in self._kept.values() if one.is_dir()]
        return [*kept, *(one for one in self._output.glob("checkpoint-*") if one.is_dir())]

    def protect(self, path: str) -> None:
        """Make the checkpoint at `path` safe; one that the trainer does not delete is."""
        known = next((advised for advised, kept in self._kept.items() if path in (advised, str(kept))), None)
        if known is not None:
            self._kept[known] = self._kept.pop(known)  # the latest
        if known is not None or not self.is_at_risk(path):
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

    def is_at_risk(self, path: str) -> bool:
        """Whether the trainer could delete it: it lies right in its folder."""
        if not self._rotates:
            return False
        try:
            return Path(path).resolve().parent == self._output.resolve()
        except OSError:
            return True

    def before_saving(self, name: str) -> None:
        """The trainer is about to save under this name; what is kept must not take the room for it."""
        try:
            for advised in list(self._kept)[:-1]:
                if not self._has_room(self._kept[advised], SPARE):
                    self._say(f"the disk is nearly full: {self._kept[advised]} is not kept any longer.")
                    let_go(self._kept.pop(advised))
            part(self._output / name, self._output)
        except OSError as error:
            complain("what is kept could not be parted from a checkpoint of the same name", error)

    def _has_room(self, like: Path, times: int) -> bool:
        return shutil.disk_usage(self._output).free >= times * size_of(like)

    def _copy(self, path: str) -> None:
        if not self._has_room(Path(path), 1 + SPARE):
            self._say(f"{path} is not copied out of the rotation: the disk has too little room for it.")
            return
        try:
            kept = keep(Path(path), self._output, copy=True)
        except Exception as error:
            complain("the recommended checkpoint could not be copied", error)
            return
        if kept is not None:
            self._take(path, kept)
        else:
            self._say(f"{path} could not be kept out of the rotation; it is tried again.")

    def _say(self, says: str) -> None:
        if says not in self._said:
            self._said.add(says)
            LOGGER.warning("leadline: %s", says)

    def _take(self, path: str, kept: Path) -> None:
        self._kept[path] = kept
        others = sorted(list(self._kept)[:-1], key=lambda advised: not Path(advised).is_dir())
        for advised in others:
            if Path(advised).is_dir() or len(self._kept) > MOST:  # with the first name there nothing is lost
                let_go(self._kept.pop(advised))
