"""A lock on a file that the system releases however the process ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def locked(path: Path) -> int | None:
    """Lock a file that lies beside what it guards, without waiting; return its number: closing it releases it.
    None if another process holds it. The file stays: removing it would race with a process that opens it now."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    file = os.open(path, flags, 0o600)
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    os.ftruncate(file, 0)
    os.write(file, str(os.getpid()).encode())
    return file


def holder(path: Path) -> str:
    """Return which process holds it, if the file shows it."""
    try:
        number = path.read_bytes()[:20].decode("ascii", errors="ignore").strip()
    except OSError:
        return ""
    return f" (process {number})" if number.isdigit() else ""
