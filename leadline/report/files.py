"""Reports on disk: whole or not at all, and never in place of something that is no file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CannotWrite

ELSEWHERE = "name a folder that can be written to and has room"


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written; to be asked before the work that is to fill it, which may take long."""
    with _explained(path):
        folder = path.parent
        if path.exists() and not path.is_file():
            raise _cannot(path, "something that is no file is there already", "name a file that does not exist yet")
        if not folder.is_dir():
            raise _cannot(path, f"the folder {folder} does not exist", f"make it first: mkdir -p {folder}")
        if not _open_to_us(folder):
            raise _cannot(path, f"the folder {folder} is closed to us", ELSEWHERE)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, as early as that."""
    with _explained(folder):
        nearest = next(one for one in (folder, *folder.parents) if one.exists())
        if not nearest.is_dir():
            raise _cannot(folder, f"{nearest} is no folder", "name a folder")
        if not _open_to_us(nearest):
            raise _cannot(folder, f"the folder {nearest} is closed to us", ELSEWHERE)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside `path` and then put it in its place, so that nobody ever sees half a report."""
    check_file(path)
    with _explained(path):
        number, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
            Path(beside).chmod(0o666 & ~_umask())  # mkstemp keeps it to its owner; a report is to be shared
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


def make_folder(folder: Path) -> None:
    """The folder and those above it, where they are missing."""
    check_folder(folder)
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What the system says against `path`, as a sentence."""
    try:
        yield
    except OSError as error:
        raise _cannot(path, error.strerror or type(error).__name__, ELSEWHERE) from error


def _cannot(path: Path, why: str, next_step: str) -> CannotWrite:
    return CannotWrite(f"{path} cannot be written: {why}.", tried=f"writing {path}", next_step=next_step)


def _open_to_us(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
