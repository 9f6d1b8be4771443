"""When local times without a zone were: `nvidia-smi` writes the wall clock of its machine and does not say where."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from datetime import datetime, timezone

from ...run import Values

QUARTER = 900.0  # seconds: every zone on earth is a multiple of a quarter of an hour off UTC
FARTHEST = 14 * 4  # quarters of an hour
ALIKE = 60.0  # seconds: overlaps that differ by less cannot be told apart
FRESH = 180.0  # a file still lying where it was written was last changed within this of its last sample

STAMP = re.compile(r"(\d{4})\D?(\d{2})\D?(\d{2})\D(\d{2}):(\d{2}):(\d{2})")


def stamps() -> Callable[[bytes], float | None]:
    """Return a reader of `2026/11/15 08:00:00.123` and the like, as seconds as if the clock showed UTC. It remembers
    seconds it has met: records hold many samples of one second."""
    known: dict[bytes, float | None] = {}
    last: tuple[bytes, float | None] = (b"", None)  # one query samples all GPUs at one time

    def read(text: bytes) -> float | None:
        nonlocal last
        if text == last[0]:
            return last[1]
        whole, dot, fraction = text.partition(b".")
        if whole not in known:
            if len(known) > 100_000:
                known.clear()
            known[whole] = _seconds(whole.decode("utf-8", errors="replace"))
        seconds = known[whole]
        if seconds is not None and dot:
            fraction = fraction.rstrip()
            seconds = seconds + int(fraction) / 10 ** len(fraction) if fraction.isdigit() else None
        last = text, seconds
        return seconds

    return read


def _seconds(text: str) -> float | None:
    found = STAMP.match(text.strip())
    if found is None:
        return None
    with contextlib.suppress(ValueError):  # no such day
        year, month, day, hour, minute, second = map(int, found.groups())
        return datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc).timestamp()
    return None


def zone(local: Values, span: tuple[float, float] | None, modified: float | None) -> tuple[float, str | None]:
    """Return the seconds to add to local times, and what to say if they had to be guessed.

    The zone in which the record overlaps the run best stands. If several do, or the run names no times, the one that
    fits the time at which the file was last changed does, and else UTC.
    """
    first, last = float(local.min()), float(local.max())
    fits = list(range(-FARTHEST, FARTHEST + 1))
    why = "nothing tells which"
    if span is not None:
        begun, ended = span
        overlap = {n: min(last + n * QUARTER, ended) - max(first + n * QUARTER, begun) for n in fits}
        best = max(overlap.values())
        if best > 0:
            fits = [n for n in fits if overlap[n] > 0 and overlap[n] >= best - ALIKE]
            why = "several zones fit the run"
            if len(fits) == 1:
                return fits[0] * QUARTER, None
    if modified is not None:
        near = [n for n in fits if abs(last + n * QUARTER - modified) <= FRESH]
        if near:
            return near[0] * QUARTER, f"no time zone given; {_said(near[0])} fits the time the file was last changed"
    chosen = min(fits, key=lambda n: (n % 4 != 0, abs(n)))
    return chosen * QUARTER, f"no time zone given and {why}: {_said(chosen)} was assumed"


def _said(quarters: int) -> str:
    """Return the zone whose local time was written. East of UTC the clock is ahead, so something is taken off it.

    >>> _said(0), _said(-32), _said(22)
    ('UTC', 'UTC+08:00', 'UTC-05:30')
    """
    if quarters == 0:
        return "UTC"
    hours, rest = divmod(abs(quarters), 4)
    return f"UTC{'-' if quarters > 0 else '+'}{hours:02}:{rest * 15:02}"
