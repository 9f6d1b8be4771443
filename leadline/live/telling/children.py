"""Another program started to tell something: without our secrets, and not for ever."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from .message import Undelivered

PATIENCE = 30.0  # seconds


def run(command: Sequence[str], *, given: bytes = b"", environ: Mapping[str, str]) -> None:
    """Run it with `given` on its standard input. Raises Undelivered unless it ends with 0. Nothing it says is read."""
    name = os.path.basename(command[0])  # noqa: PTH119 - of a command, not a path
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,  # so that its own children can be ended with it
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        raise Undelivered(f"{name} cannot be run here") from None
    except (OSError, ValueError) as error:
        raise Undelivered(f"{name} cannot be started ({type(error).__name__})") from None
    try:
        child.communicate(given, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise Undelivered(f"{name} did not end in {PATIENCE:.0f} s and was ended", unsure=True) from None
    if child.returncode != 0:
        raise Undelivered(f"{name} ended with {child.returncode}")


def without_secrets(environ: Mapping[str, str], secrets: Sequence[str]) -> dict[str, str]:
    """The environment less the variables that hold our secrets: another program has no need of them."""
    return {name: value for name, value in environ.items() if name not in secrets}
