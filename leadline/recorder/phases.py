"""Phases from the run's own log: how long each took is logged, and the time of the row ends the last of them.

They are laid end to end in the order of the log, as trainers with one loop work. If phases add up to more than their
step they overlapped, and nothing is written. A log without times is dated by when its rows appear, which is good to one
sample, so steps must take several.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

from ..errors import LeadlineError
from ..inside.journal import last_step
from ..reading.machine import NOT_A_PHASE, OVERLAP, PARTS
from ..sources import Log, Reader, find_runs, source_of
from ..vocabulary import detect, translate

BY = "leadline record"
SAMPLES = 4  # a step must take, to be dated by when its row appears


class LoggedPhases:
    """`phases.jsonl`, made from a log. If a trainer writes that file itself, we do not."""

    NAME = "phases.jsonl"
    HEADER = b""

    def __init__(self, log: Path, folder: Path, *, every: float, note: Callable[[str], None]) -> None:
        self._log, self._every, self._note = log, every, note
        self._file = folder / self.NAME
        self._reader: Reader | None = None
        self._last_step = last_step(self._file) if self._is_ours() else None

    def sample(self, now: float) -> bytes:
        if not self._is_ours():
            self._note(f"{self.NAME} is written by the run itself, so phases are not taken from its log")
            return b""
        first_look = self._reader is None
        self._reader = self._reader or _reader_of(self._log)
        if self._reader is None or not (self._reader.update() or first_look):
            return b""
        found = _timings(self._reader.log)
        new = sorted(step for step in found if self._last_step is None or step > self._last_step)
        lines = []
        for step in new:
            # Of rows that came together, or were there before us, we know only that they are not newer than now.
            appeared = now if step == new[-1] and not first_look else None
            values, walls = found[step]
            lines.append(self._laid_out(step, values, max(walls, default=None), appeared))
            self._last_step = step
        return b"".join(lines)

    def _is_ours(self) -> bool:
        """Return whether the file is ours to write: its first line is, or there is none."""
        try:
            with self._file.open("rb") as lines:
                first = lines.readline(1 << 16)
        except OSError:
            return True
        return not first or f'"by":"{BY}"'.encode() in first

    def _laid_out(self, step: int, values: Mapping[str, float], told: float | None, appeared: float | None) -> bytes:
        """Return the line of a step; none if its phases can't be dated."""
        whole = values.get("step")
        spent = {name: seconds for name, seconds in values.items() if _is_phase(name, values)}
        total = sum(spent.values())
        if not spent or total <= 0:
            return b""
        if whole is not None and total > OVERLAP * whole:
            self._note("phases overlap in this run, so its log doesn't show when each of them ran")
            return b""
        end = told if told is not None else appeared
        if end is None or (told is None and (whole or total) < SAMPLES * self._every):
            return b""
        spans: dict[str, object] = {"step": step, "by": BY}
        at = end - total
        for name, seconds in spent.items():
            spans[name] = [round(at, 3), round(at + seconds, 3)]
            at += seconds
        return (json.dumps(spans, separators=(",", ":")) + "\n").encode()


Timings = tuple[dict[str, float], list[float]]  # of a step: seconds by phase in written order, and when it was written


def _timings(log: Log) -> dict[int, Timings]:
    """Return the logged times by step. A log that keeps each key by itself may not hold the newest step whole yet."""
    dialect = log.dialect or detect(log.table.keys_at_start())
    found: dict[int, Timings] = {}
    by_key = False
    for key, column in log.table.columns().items() if dialect else ():
        meaning = translate(key, dialect) if dialect else None
        if meaning is None or not meaning.canonical.startswith("time/"):
            continue
        by_key |= column.rows is None
        name = meaning.canonical.removeprefix("time/")
        for step, value, wall in zip(column.steps.tolist(), column.values.tolist(), column.walls.tolist(), strict=True):
            values, walls = found.setdefault(step, ({}, []))
            if math.isfinite(value) and value >= 0:
                values[name] = value
            if math.isfinite(wall):
                walls.append(wall)
    if by_key and found:
        del found[max(found)]
    return found


def _is_phase(name: str, logged: Mapping[str, float]) -> bool:
    """Return whether a time is that of one phase, and not the sum of others that are logged.

    >>> [_is_phase(name, {"update": 13.0, "update_actor": 12.0}) for name in ("generate", "update", "step")]
    [True, False, False]
    """
    if name in NOT_A_PHASE or "/" in name or "@" in name:
        return False
    return not any(part in logged for part in PARTS.get(name, ()))


def _reader_of(log: Path) -> Reader | None:
    """Return a reader of the run's log; None as long as there is none."""
    try:
        place = find_runs(log).only().used[0].path if log.is_dir() else log
        source = source_of(place)
        return None if source is None else source.open(place)[0]
    except (LeadlineError, OSError, IndexError):  # not there yet, or several runs: another sample may see it
        return None
