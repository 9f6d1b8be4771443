"""Write reports to disk: whole or not at all, and only in place of regular files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CannotWrite
from ..state import replacing

ELSEWHERE = "name a writable folder with free space."


def check_file(path: Path) -> None:
    """Raise if a file can't be written. Call it before long work whose result it holds."""
    with _explained(path):
        folder = path.parent
        if path.exists() and not path.is_file():
            raise _cannot(path, "it exists and is not a regular file", "name a file that does not exist yet.")
        if not folder.is_dir():
            raise _cannot(path, f"{folder} doesn't exist", f"mkdir -p {folder}")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise _cannot(path, f"no permission to write in {folder}", ELSEWHERE)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a report, of which no reader sees a half. A link stays one: what it leads to is written."""
    check_file(path)
    with _explained(path), replacing(Path(os.path.realpath(path))) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def make_folder(folder: Path) -> None:
    """Make the folder and its parents."""
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn an error of the system into one sentence."""
    try:
        yield
    except OSError as error:
        raise _cannot(path, error.strerror or type(error).__name__, ELSEWHERE) from error


def _cannot(path: Path, why: str, next_step: str) -> CannotWrite:
    return CannotWrite(f"can't write {path}: {why}.", tried=f"writing {path}", next_step=next_step)
