"""The recommended checkpoint, kept from a trainer that deletes the oldest whenever it saves.

A second name for every file (a hard link) costs no room and no time, and holds the data when the first name is deleted.
On a disk without links it is copied, if there is room, by a thread of its own: a training must not wait for it.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from .quiet import LOGGER, Once, complain, quiet

KEPT = "kept-by-leadline"
AGAIN = 30.0  # seconds after which what could not be made safe is tried again
MOST = 2  # checkpoints that are kept at a time: the recommended one, and one more, since the advice may change back
SPARE = 2  # checkpoints that must find room on the disk beside a copy; with less, only the recommended one is kept


class Keeper:
    """Keeps the checkpoints that answers recommend."""

    def __init__(self, output: Path, *, rotates: bool) -> None:
        """`rotates`: the trainer deletes old checkpoints in `output`."""
        self._output, self._rotates = output, rotates
        self._kept: dict[str, Path] = {}  # by the recommended path, the latest last
        self._next = float("-inf")
        self._copying: threading.Thread | None = None
        self._say = Once(LOGGER.warning)

    def advised(self, step: int | None, path: str | None) -> str | None:
        """Return the checkpoint to keep: the recommended one, or if it is gone the nearest, rather before it than
        after; None if there is none."""
        if path is not None and (Path(path).is_dir() or path in self._kept):
            return path
        kept = [one for one in self._kept.values() if one.is_dir()]
        saved = [*kept, *(one for one in self._output.glob("checkpoint-*") if one.is_dir())]
        left = {int(found[1]): str(one) for one in saved if (found := re.search(r"-(\d+)(?:-\d+)?$", one.name))}
        if step is None or not left:
            return None
        nearest = left[min(left, key=lambda one: (one > step, abs(one - step)))]
        self._say(f"leadline: the recommended checkpoint of step {step} is gone; keeping {nearest} instead.")
        return nearest

    def protect(self, path: str) -> str | None:
        """Make the checkpoint at `path` safe; return where it is safe, or None if that is to be tried again."""
        known = next((advised for advised, kept in self._kept.items() if path in (advised, str(kept))), None)
        if known is not None:
            self._kept[known] = self._kept.pop(known)  # the latest
        elif self._is_at_risk(path) and time.monotonic() >= self._next and not self._is_copying():
            kept = keep(Path(path), self._output)
            if kept is not None:
                self._take(path, kept)
            else:
                self._next = time.monotonic() + AGAIN
                self._copying = threading.Thread(target=quiet(self._copy), args=(path,), daemon=True)
                self._copying.start()
        return self.safe(path)

    def safe(self, path: str) -> str | None:
        """Return where the checkpoint at `path` is safe; None if it is not."""
        if path in map(str, self._kept.values()) or not self._is_at_risk(path):
            return path
        kept = self._kept.get(path)
        return None if kept is None else str(kept)

    def before_saving(self, name: str) -> None:
        """Prepare for a save under this name: what is kept must neither take the room for it nor be written over."""
        try:
            for advised in list(self._kept)[:-1]:
                if not self._has_room(self._kept[advised], SPARE):
                    self._say(f"leadline: the disk is nearly full: no longer keeping {self._kept[advised]}.")
                    _let_go(self._kept.pop(advised))
            self._part(self._output / name)
        except OSError as error:
            complain("a kept checkpoint could not be parted from one of the same name", error)

    def _part(self, checkpoint: Path) -> None:
        """Unlink the files that a kept checkpoint shares with one that is about to be saved again: trainers write into
        the files that are there."""
        kept = {_node(file) for file in _files(self._output / KEPT)} if checkpoint.is_dir() else set()
        for file in _files(checkpoint) if kept else ():
            if _node(file) in kept:
                file.unlink()

    def _is_at_risk(self, path: str) -> bool:
        """Return whether the trainer could delete it: it lies right in its folder."""
        try:
            return self._rotates and Path(path).resolve().parent == self._output.resolve()
        except OSError:
            return True

    def _is_copying(self) -> bool:
        return self._copying is not None and self._copying.is_alive()

    def _has_room(self, like: Path, times: int) -> bool:
        return shutil.disk_usage(self._output).free >= times * sum(file.stat().st_size for file in _files(like))

    def _copy(self, path: str) -> None:
        if not self._has_room(Path(path), 1 + SPARE):
            self._say(f"leadline: {path} is not copied out of the rotation: not enough disk space.")
            return
        kept = keep(Path(path), self._output, copy=True)
        if kept is not None:
            self._take(path, kept)
        else:
            self._say(f"leadline: {path} could not be kept out of the rotation; retrying.")

    def _take(self, path: str, kept: Path) -> None:
        self._kept[path] = kept
        others = sorted(list(self._kept)[:-1], key=lambda advised: not Path(advised).is_dir())
        for advised in others:
            if Path(advised).is_dir() or len(self._kept) > MOST:  # with the first name there nothing is lost
                _let_go(self._kept.pop(advised))


def keep(checkpoint: Path, beside: Path, *, copy: bool = False) -> Path | None:
    """Give the checkpoint a name of its own, in a folder in `beside` that no rotation looks into; return None if it
    can't be kept. It is whole or not there. `copy`: by copying it, which takes room and time."""
    if not checkpoint.is_dir():
        return None
    # Where this very checkpoint is kept, or will be: a run that is trained again gives its names twice.
    names = itertools.chain([checkpoint.name], (f"{checkpoint.name}-{number}" for number in itertools.count(2)))
    places = (beside / KEPT / name for name in names)
    kept = next(place for place in places if not place.exists() or _holds(place, checkpoint))
    if kept.is_dir():
        return kept
    unfinished = kept.with_name(f".{kept.name}.{os.getpid()}")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(checkpoint, unfinished, copy_function=shutil.copy2 if copy else os.link, symlinks=True)
        if not _holds(unfinished, checkpoint):  # it was deleted or written over meanwhile
            raise OSError
        unfinished.rename(kept)
    except (OSError, shutil.Error):
        shutil.rmtree(unfinished, ignore_errors=True)
        return kept if kept.is_dir() else None
    return kept


def _holds(kept: Path, checkpoint: Path) -> bool:
    """Return whether all files of a checkpoint are there, the same ones or copies of them."""
    for file in _files(checkpoint):
        ours = kept / file.relative_to(checkpoint)
        if not ours.is_file() or not (_node(ours) == _node(file) or _looks(ours) == _looks(file)):
            return False
    return checkpoint.is_dir()


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def _node(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_dev, state.st_ino


def _looks(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns // 1_000_000_000  # not every disk keeps more than seconds


def _let_go(kept: Path) -> None:
    """Remove what `keep` made, and nothing else."""
    if kept.parent.name == KEPT and not kept.is_symlink():
        shutil.rmtree(kept, ignore_errors=True)
