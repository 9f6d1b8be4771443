"""The default place of the shelf, and owners of leases."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

from ..inside.journal import started_at
from ..state import state_folder


def default_store() -> str:
    """Return the address in LEADLINE_STORE, or a file in the user's folder."""
    return os.environ.get("LEADLINE_STORE") or str(state_folder() / "shelf.db")


def host() -> str:
    """Return a name for this machine since it was started: after a reboot nobody of before lives. Two containers may
    share a name, but not the numbers of their processes."""
    try:
        return f"{socket.gethostname()}/{_boot()}"
    except OSError:
        return f"{socket.gethostname()}//"


@cache
def _boot() -> str:
    """Return the boot and the space of process numbers. An error is not kept: a server of agents may not look there."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    return f"{boot}/{Path('/proc/self/ns/pid').readlink().name.strip('pid:[]')}"


def owner() -> str:
    """Return a name for this process, so that another one can tell whether it still lives."""
    pid = os.getpid()
    return f"{host()}:{pid}:{started_at(pid)}"


def is_dead(holder: str) -> bool:
    """Return whether the process that holds a lease is known to be gone; of another machine that cannot be known."""
    where, pid, started, *_ = (*holder.split(":"), "", "")  # behind it, which of its scans it is
    if where != host() or not pid.isdigit() or not started:
        return False
    return started_at(int(pid)) != started
