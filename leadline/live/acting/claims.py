"""Claim the right to act: two watches of one run, wherever their state is, signal it once."""

from __future__ import annotations

import hashlib
import os
import pwd
import socket
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

BESIDE = ".leadline-acts"  # where claims lie beside a run


def _fixed() -> Path:
    """Return the user's one folder for claims, whatever the environment says."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local" / "state" / "leadline" / "acts"
    except KeyError:  # a user without a name, as in containers
        return Path(f"/var/tmp/leadline-{os.getuid()}/acts")


FIXED = _fixed()


def claim(what: str, state: Path, runs: Collection[Path]) -> str | None:
    """Claim the right to act on something, beside the run and in the user's one folder, whatever the environment says.
    Return None if it is ours, else the other watch. Raises OSError if it can be claimed nowhere."""
    mine, problem, held = f"{state.absolute()} on {socket.gethostname()}", None, 0
    for folder in (FIXED, *(run / BESIDE for run in sorted(runs))):
        beside = folder / f".{_short(mine)}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            beside.write_text(mine)
            with suppress(FileExistsError):
                os.link(beside, folder / _short(what))  # whole, or not at all
            owner = (folder / _short(what)).read_text()
        except OSError as error:
            problem = error
            continue
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        if owner != mine:
            return owner
        held += 1
    if problem is not None and not held:
        raise problem
    return None


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:24]
