"""What is remembered from one call to the next: the user's folder for it, and files that are replaced as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Our own databases that are open for writing, by their real paths. If any other part of this process opens and closes
# one, all its locks are gone, and another program may undo what is being written.
HELD: set[str] = set()


def state_folder() -> Path:
    """Return that folder."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "state") / "leadline"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file beside `path` that takes its place at the end of the block: a reader sees the old one or the new
    one, whole. If the block fails, the old one stays and nothing is left of the new one."""
    beside = path.with_name(f".{path.name[:40]}.{os.urandom(4).hex()}.part")
    # One that is there already may lead elsewhere. The mode is left to the umask, which belongs to all threads.
    new = beside.open("xb")
    try:
        with new as file:
            yield file
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
