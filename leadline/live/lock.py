"""A lock on a file that the system releases however the process ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class FileLock:
    """A lock in a file of its own beside what it guards."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Return whether it is ours now, without waiting."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        file = os.open(self.path, flags, 0o600)
        try:
            _lock(file)
        except OSError:
            os.close(file)
            return False
        os.ftruncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        self._file = file
        return True

    def release(self) -> None:
        """Release it. The file stays: removing it would race with a process that opens it now."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def holder(self) -> str:
        """Return which process holds it, if the file shows it."""
        try:
            number = self.path.read_bytes()[:20].decode("ascii", errors="ignore").strip()
        except OSError:
            return ""
        return f" (process {number})" if number.isdigit() else ""


def _lock(file: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
