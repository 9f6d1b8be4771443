"""Doing something once although the watch may be killed at any moment.

What is about to be done is written down before, and what was done after. Between the two lies a moment of which a watch
that is started again must know whether it had passed. For a signal two marks in a small file tell that: they are set
right before and right after the system call, into room that was taken beforehand, so a full disk cannot prevent it. A
program is run by a shell of its own that outlives the watch and keeps how it ended.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

ROOM = 256  # bytes of the file of marks
BESIDE = ".leadline-acts"  # where claims lie beside a run
LONGEST = 600  # bytes of what a program printed that are kept for a message

Mark = Literal["none", "about", "over"]
Outcome = Literal["not begun", "runs", "over", "unknown"]

# "$0" is the folder of the deed. The mark of how it ended overwrites room that is there already.
SHELL = 'printf x 1<>"$0/started" || exit 97; "$@" >"$0/out" 2>&1 </dev/null; printf "%-4s" "$?" 1<>"$0/ended"'

_begun: list[subprocess.Popen[bytes]] = []  # shells of ours: the system wants to know that somebody heard of their end


def _fixed() -> Path:
    """The user's one place for claims."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local" / "state" / "leadline" / "acts"
    except KeyError:  # a user without a name, as in containers
        return Path(f"/var/tmp/leadline-{os.getuid()}/acts")


FIXED = _fixed()


class Marks:
    """The file of marks beside a state file: which deed is on its way, and how far."""

    def __init__(self, state: Path) -> None:
        self._path = state.with_name(state.name + ".marks")
        self._file: int | None = None

    def of(self, deed: str) -> Mark:
        """How far the deed had come when the last watch wrote of it."""
        try:
            found = json.loads(self._path.read_bytes().strip(b"\0 "))
        except (OSError, ValueError):
            return "none"
        if not isinstance(found, dict) or found.get("deed") != _short(deed):
            return "none"
        return "over" if found.get("mark") == "over" else "about"

    def prepare(self) -> None:
        """Take the room that is needed. Raises OSError."""
        if self._file is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self._path, flags, 0o600)
        if os.fstat(self._file).st_size < ROOM:
            os.pwrite(self._file, b" " * ROOM, 0)
            os.fsync(self._file)

    def around(self, deed: str, doing: Callable[[], None]) -> None:
        """Do it, between the two marks."""
        assert self._file is not None
        before, after = _record(deed, "about"), _record(deed, "over")
        os.pwrite(self._file, before, 0)
        doing()
        os.pwrite(self._file, after, 0)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Errand:
    """A program that is run once for a deed, and goes on when the watch is killed."""

    def __init__(self, state: Path, deed: str) -> None:
        self._folder = state.with_name(state.name + ".acts") / _short(deed)

    def outcome(self) -> Outcome:
        """How far it has come. `unknown`: it was begun, and whoever ran it was killed before it ended."""
        if not (self._folder / "started").exists():
            return "not begun"
        file = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return "runs"
        finally:
            os.close(file)
        if not (self._folder / "started").read_bytes().startswith(b"x"):
            return "not begun"
        return "over" if self.code() is not None else "unknown"

    def code(self) -> int | None:
        """The exit code; None as long as there is none."""
        try:
            text = (self._folder / "ended").read_text().strip()
        except OSError:
            return None
        return int(text) if text.lstrip("-").isdecimal() else None

    def printed(self) -> str:
        """What it printed, the end of it."""
        try:
            text = (self._folder / "out").read_bytes()[-LONGEST:].decode(errors="replace")
        except OSError:
            return ""
        return " ".join(text.split())

    def begin(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Run it. Raises OSError where there is no room to keep how it ended, or no such program."""
        if shutil.which(words[0]) is None:
            raise FileNotFoundError(f"the program {words[0]} was not found")
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("started", "ended"):
            with (self._folder / name).open("wb") as file:
                file.write(b"    ")
                os.fsync(file.fileno())
        lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held for as long as the shell lives, by whatever it runs
            shell = subprocess.Popen(
                ["/bin/sh", "-c", SHELL, str(self._folder), *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(lock,),
                env={**os.environ, **environment},
            )
        finally:
            os.close(lock)
        _begun[:] = [one for one in _begun if one.poll() is None] + [shell]


def claim(what: str, state: Path, runs: Collection[Path]) -> str | None:
    """Claim the right to act on something, in the user's one place for that and beside the run, whatever the
    environment says: two watches of one run must not both act. None where it is ours, else whose it is. Raises OSError
    where it can be claimed nowhere."""
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


def _record(deed: str, mark: Mark) -> bytes:
    return json.dumps({"deed": _short(deed), "mark": mark}).encode().ljust(ROOM)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:24]
