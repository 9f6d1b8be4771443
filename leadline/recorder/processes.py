"""Processes through psutil: those that do something, from then on until they end.

Names are short: the program, or the script an interpreter runs. Arguments may hold secrets and are never written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import need

BUSY = 0.05  # of one processor since the sample before: less is idling
LARGE = 0.01  # of the machine's memory
MOVED = 1.0  # MiB a second read or written
MOST = 64  # processes followed at a time; the idlest make room
MIB = 1 << 20
INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|node|bash|sh)[\d.]*")
LONGEST = 80  # letters of a name


class Processes:
    """The processes of this machine that use its processors, memory or disks."""

    NAME = "processes.jsonl"
    HEADER = b""

    def __init__(self, *, note: Callable[[str], None]) -> None:
        self._psutil: Any = need("psutil", extra="record", to="record processes")
        self._note = note
        self._large = LARGE * self._psutil.virtual_memory().total
        self._followed: dict[tuple[int, float], float] = {}  # pid and start: when it last did something
        self._before: dict[tuple[int, float], tuple[float, float]] = {}  # processor seconds and MiB moved
        self._names: dict[tuple[int, float], tuple[str, str]] = {}  # its program, and what we call it
        self._last: float | None = None

    def sample(self, now: float) -> bytes:
        passed = None if self._last is None else max(now - self._last, 1e-3)
        self._last = now
        seen: dict[tuple[int, float], dict[str, object]] = {}
        before, self._before = self._before, {}
        for process in self._psutil.process_iter():
            try:
                with process.oneshot():
                    key = (process.pid, process.create_time())
                    times, memory = process.cpu_times(), process.memory_info()
                    moved = self._moved(process)
                    program = process.name()
                    if self._names.get(key, ("", ""))[0] != program:  # a shell forks before it becomes what it runs
                        self._names[key] = program, name_of(program, _words(process))
            except self._psutil.Error:  # it ended while we looked, or is not ours to look into
                continue
            spent = times.user + times.system
            total = 0.0 if moved is None else sum(moved)
            self._before[key] = (spent, total)
            was = before.get(key, (0.0, 0.0) if passed is not None else (spent, total))
            paced = passed or 1.0
            if (
                (spent - was[0]) / paced > BUSY
                or memory.rss > self._large
                or (moved is not None and (total - was[1]) / paced > MOVED)
            ):
                self._followed[key] = now
            one: dict[str, object] = {
                "pid": key[0],
                "name": self._names[key][1],
                "cpu_s": round(spent, 2),
                "rss_mb": round(memory.rss / MIB, 1),
            }
            if moved is not None:
                one |= {"read_mb": round(moved[0], 2), "write_mb": round(moved[1], 2)}
            seen[key] = one
        self._names = {key: name for key, name in self._names.items() if key in seen}
        self._keep(seen)
        procs = [one for key, one in seen.items() if key in self._followed]
        return (json.dumps({"t": round(now, 3), "procs": procs}, separators=(",", ":")) + "\n").encode()

    def close(self) -> None:
        self._followed.clear()

    def _keep(self, seen: dict[tuple[int, float], dict[str, object]]) -> None:
        """Forget what has ended; where there are too many, those that did nothing for longest make room."""
        alive = [(at, key) for key, at in self._followed.items() if key in seen]
        self._followed = {key: at for at, key in sorted(alive, reverse=True)[:MOST]}
        if len(alive) > MOST:
            self._note(f"more than {MOST} busy processes: the idlest are not recorded")

    def _moved(self, process: Any) -> tuple[float, float] | None:
        """MiB read from and written to disks; None where the system does not tell us."""
        try:
            counted = process.io_counters()
        except (self._psutil.Error, AttributeError, OSError):
            return None
        return counted.read_bytes / MIB, counted.write_bytes / MIB


def _words(process: Any) -> Sequence[str]:
    try:
        return list(process.cmdline())
    except Exception:  # a zombie, another user's: its name has to do
        return []


def name_of(program: str, words: Sequence[str]) -> str:
    """What to call a process: its program, or the script or module that an interpreter runs.

    >>> name_of("python3.11", ["/usr/bin/python3.11", "-u", "/home/me/train.py", "--key", "s3cret"])
    'train.py'
    >>> name_of("python3", ["python3", "-m", "verl.trainer.main_ppo"])
    'verl.trainer.main_ppo'
    >>> name_of("rsync", ["rsync", "-a", "ckpt", "host:"])
    'rsync'
    """
    if not INTERPRETER.fullmatch(program):
        return program[:LONGEST]
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word == "-m" and rest:
            return rest[0][:LONGEST]
        if word == "-c":
            break
        if not word.startswith("-"):
            return Path(word).name[:LONGEST] or program
    return program[:LONGEST]
