"""Wait for what another process does: the only place where tests let time pass, and no test depends on how much."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

PATIENCE = 240.0  # seconds: the machine may be busy, and a watch claims little of it
Found = TypeVar("Found")


def wait_for(what: Callable[[], Found], patience: float = PATIENCE) -> Found:
    """Return what is found once it is true; fail if that takes longer than anything should."""
    until = time.monotonic() + patience
    while not (found := what()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return found


def gone(pid: int) -> bool:
    """Return whether a process has ended; one that its parent has not asked about yet counts."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
