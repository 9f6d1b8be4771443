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


try:  # the user's one folder for claims, whatever the environment says
    FIXED = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local" / "state" / "leadline" / "acts"
except KeyError:  # a user without a name, as in containers
    FIXED = Path(f"/var/tmp/leadline-{os.getuid()}/acts")


def claim(what: str, state: Path, runs: Collection[Path]) -> str | None:
    """Claim the right to act on something, beside the run and in the user's one folder, whatever the environment says.
    Return None if it is ours, else the other watch. Raises OSError if it can be claimed nowhere."""
    mine, problem, held = f"{state.absolute()} on {socket.gethostname()}", None, 0
    name = hashlib.sha256(what.encode("utf-8", errors="surrogateescape")).hexdigest()[:24]
    for folder in (FIXED, *(run / BESIDE for run in sorted(runs))):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                (folder / name).symlink_to(mine)  # to nothing: a link is there with its text, or not at all
            owner = str((folder / name).readlink())
        except OSError as error:
            problem = error
            continue
        if owner != mine:
            return owner
        held += 1
    if problem is not None and not held:
        raise problem
    return None
