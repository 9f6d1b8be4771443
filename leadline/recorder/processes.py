"""Processes through psutil: those that do something, from then on until they end.

Names are short: the program, or the script an interpreter runs. Arguments may hold secrets and are never written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import need

BUSY = 0.05  # of one processor since the sample before: less is idling
LARGE = 0.01  # of the machine's memory
MOVED = 1.0  # MiB a second read or written
MOST = 64  # processes followed at a time; the idlest make room
MIB = 1 << 20
INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|node|bash|sh)[\d.]*")
LONGEST = 80  # letters of a name

Key: TypeAlias = tuple[int, float]  # pid and start: a number may be taken by another process


class Processes:
    """The processes of this machine that use its processors, memory, or disks."""

    NAME = "processes.jsonl"
    HEADER = b""

    def __init__(self, *, note: Callable[[str], None]) -> None:
        self._psutil: Any = need("psutil", extra="record", to="record processes")
        self._note = note
        self._asked = ["pid", "create_time", "name", "cpu_times", "memory_info"]
        if hasattr(self._psutil.Process, "io_counters"):  # not on every system
            self._asked.append("io_counters")
        self._large = LARGE * self._psutil.virtual_memory().total
        self._followed: dict[Key, float] = {}  # when each last did something
        self._before: dict[Key, tuple[float, float]] = {}  # processor seconds and MiB moved
        self._names: dict[Key, tuple[str, str]] = {}  # its program, and what we call it
        self._last: float | None = None

    def sample(self, now: float) -> bytes:
        passed = None if self._last is None else max(now - self._last, 1e-3)
        self._last = now
        before, self._before = self._before, {}
        names, self._names = self._names, {}
        seen: dict[Key, dict[str, object]] = {}
        for process in self._psutil.process_iter(self._asked):
            found = process.info
            if found["cpu_times"] is None or found["memory_info"] is None or found["create_time"] is None:
                continue  # not ours to look into
            key = (found["pid"], found["create_time"])
            spent, memory = found["cpu_times"].user + found["cpu_times"].system, found["memory_info"].rss
            disk = found.get("io_counters")
            moved = (0.0, 0.0) if disk is None else (disk.read_bytes / MIB, disk.write_bytes / MIB)
            self._before[key] = spent, sum(moved)
            # Of the first sample nothing is known before; a process that began since then did all of it since.
            was = before.get(key, self._before[key] if passed is None else (0.0, 0.0))
            worked, carried = spent - was[0], sum(moved) - was[1]
            if worked > BUSY * (passed or 1.0) or memory > self._large or carried > MOVED * (passed or 1.0):
                self._followed[key] = now
            program = found["name"] or ""
            known = names.get(key)
            if known is None or known[0] != program:  # a shell forks before it becomes what it runs
                known = program, name_of(program, self._words(process))
            self._names[key] = known
            seen[key] = {"pid": key[0], "name": known[1], "cpu_s": round(spent, 2), "rss_mb": round(memory / MIB, 1)}
            if disk is not None:
                seen[key] |= {"read_mb": round(moved[0], 2), "write_mb": round(moved[1], 2)}
        self._keep(seen)
        procs = [one for key, one in seen.items() if key in self._followed]
        return (json.dumps({"t": round(now, 3), "procs": procs}, separators=(",", ":")) + "\n").encode()

    def _keep(self, seen: dict[Key, dict[str, object]]) -> None:
        """Forget what has ended; if there are too many, those that did nothing for longest make room."""
        alive = [(at, key) for key, at in self._followed.items() if key in seen]
        self._followed = {key: at for at, key in sorted(alive, reverse=True)[:MOST]}
        if len(alive) > MOST:
            self._note(f"more than {MOST} busy processes: the idlest are not recorded")

    def _words(self, process: Any) -> Sequence[str]:
        try:
            return list(process.cmdline())
        except (self._psutil.Error, OSError):  # a zombie, another user's: its name has to do
            return []


def name_of(program: str, words: Sequence[str]) -> str:
    """Return what to call a process: its program, or the script or module that an interpreter runs.

    >>> name_of("python3.11", ["/usr/bin/python3.11", "-u", "/home/me/train.py", "--key", "s3cret"])
    'train.py'
    >>> name_of("python3", ["python3", "-m", "verl.trainer.main_ppo"])
    'verl.trainer.main_ppo'
    >>> name_of("rsync", ["rsync", "-a", "ckpt", "host:"])
    'rsync'
    """
    if not INTERPRETER.fullmatch(program):
        return program[:LONGEST]
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            return next(rest, program)[:LONGEST]
        if word == "-c":
            break
        if not word.startswith("-"):
            return Path(word).name[:LONGEST] or program
    return program[:LONGEST]
