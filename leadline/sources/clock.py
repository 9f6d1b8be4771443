"""Clocks: by which key rows count their steps, and when something was written.

Rows without a step are ordered by time, or by place where they name none."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from ..vocabulary.names import listed, tokens, words
from .number import as_number, as_step

# What a loop may call the step it counts its rows by, the surest first. open-instruct's `global_step` counts samples,
# so its `training_step` comes before (atlas trap 8); W&B's own `_step` counts calls of log, so it comes late.
STEPS = (*listed("step"),)
RANKS = {name: rank for rank, name in enumerate(STEPS)}
# Words by which any other key says that it counts steps, words that may stand beside them, and words that make of it
# something else: how long a step took, how many there are to be, how many samples it saw.
HEADS = {"step", "iteration", "update", "epoch"}
ASIDE = {*listed("beside step")}
AMOUNT = {"n", "num", "count"}  # how many rather than which one
OTHER_STEPS = {*listed("no step")}
SECTIONS = {"total", "counter", "counters", "progress", "time", "state"}  # under which running totals stand
WHICH = {"num", "number", "no", "id", "idx", "index"}  # after a word for what counts: which one it is
TRACKERS = {"wandb", "mlflow", "tensorboard", "tb", "trackio", "swanlab"}  # they count calls of their own
LONGEST_NAME = 4  # words
MOSTLY = 2 / 3  # of the rows
STILL = 2  # rows in which a step may stand still
ROUND = 1 / 3  # of the rows: a step is taken back at a resume, hardly as often as that
OF_SAMPLES = (*listed("step of a sample"),)  # what a sample may call the step of its policy
TIMES = ("timestamp", "_timestamp", "time", "wall_time", "walltime", "unix_time", "ts", "created_at", "at")
EARLIEST = 1e9  # seconds since 1970: a smaller number is a duration, not a date
STAMP = re.compile(
    r"(?<!\d)(?:(?:\d{4}-)?(?:\d\d-)?(?P<day>\d\d)[-T_ ])?(?P<hour>\d\d)[-:](?P<minute>\d\d)[-:](?P<second>\d\d)"
    r"(?:[-.,](?P<part>\d{1,6}))?(?!\d)"
)


def step_key(rows: Iterable[Mapping[str, object]]) -> str | None:
    """Return the key under which these rows carry their step; None if they carry none. Of several, the surest name that
    behaves like a step: it does not go round, nor stand still while another one goes on."""
    seen = [row for row in rows if row]
    ranked = sorted({(rank, key) for row in seen for key in row if (rank := _rank(key)) is not None})
    fitting: list[tuple[str, list[int]]] = []
    for _, key in ranked:
        values = [as_step(row[key]) for row in seen if key in row]
        steps = [value for value in values if value is not None and value >= -1]  # -1: before the first
        sure = words(key) in RANKS  # whatever it does: rows may come in any order, and from several processes
        amount = len(seen) == 1 and AMOUNT & {*tokens(key)}  # a setting, till it goes on
        counts = sure or not (amount or _goes_round(steps))
        if counts and len(values) * 2 >= len(seen) and len(steps) == len(values):
            fitting.append((key, steps))
    fitting.sort(key=lambda pair: len(pair[1]) < len(seen))  # stable: those of every row first
    going_on = [key for key, steps in fitting if steps[-1] > steps[0] and _turns(steps) == 0]
    # None does where a run was taken up again and again: then those that mostly go on.
    going_on = going_on or [key for key, steps in fitting if _goes_on_mostly(steps)]
    # What goes back at all beside a count of episodes is how long each was; else a run may have been taken up again.
    often = 0 if any(tokens(key) == ("episode",) for key in going_on) else 1
    passes = next((steps for key, steps in fitting if tokens(key)[-1:] == ("epoch",)), [])
    for key, steps in fitting:
        stands = len(steps) > STILL and len(set(steps)) == 1
        if not going_on or key in going_on or not (stands or _turns(steps) > often) or begins_with(steps, passes):
            return key
    return None


def begins_with(steps: Sequence[int], passes: Sequence[float]) -> bool:
    """Return whether a count goes back only where the next pass over the data begins."""
    pairs = zip(itertools.pairwise(steps), itertools.pairwise(passes), strict=False)
    return len(steps) == len(passes) and all(after > before or later > now for (before, after), (now, later) in pairs)


def _goes_on_mostly(steps: Sequence[int]) -> bool:
    """Return whether nearly every row is one further than the row before: a count, and no length of an episode."""
    ahead = sum(after > before for before, after in itertools.pairwise(steps))
    return len(steps) > STILL and ahead > MOSTLY * (len(steps) - 1)


def _goes_round(steps: Sequence[int]) -> bool:
    """Return whether a count goes back so often that it is the length or number of something."""
    return len(steps) > STILL and _turns(steps) >= ROUND * len(steps)


def _turns(steps: Sequence[int]) -> int:
    """Return how often a count goes back."""
    return sum(after < before for before, after in itertools.pairwise(steps))


@lru_cache(maxsize=4096)
def _rank(key: str) -> tuple[int, int] | None:
    """Return how surely a key is the step, by its name: those that are known, then those that say so in other words."""
    name = "_step" if key == "_step" else words(key)
    if name in RANKS:
        return RANKS[name], 0
    section, _, last = key.rpartition("/")
    if section and words(section) in SECTIONS and words(last) in RANKS:
        return RANKS["_step"], 2 + RANKS[words(last)]
    parts = tokens(key)
    if len(parts) == len(("episode", "num")) and parts[0] in RANKS and parts[1] in WHICH:
        return RANKS[parts[0]], 1
    heads = [part for part in parts if part in HEADS]
    if not heads or len(parts) > LONGEST_NAME or OTHER_STEPS & {*parts}:
        return None
    others = [part for part in parts if part not in HEADS and part not in ASIDE]
    if not others and heads[-1] != "epoch" and not AMOUNT & {*parts}:
        return RANKS["step"], 1 + len(parts)
    tracker = any(part in TRACKERS for part in parts)
    return (RANKS["_step"], 1 + tracker + len(parts)) if len(others) <= 1 or tracker else None


def step_of(record: Mapping[str, object]) -> int | None:
    """Return the step that a sample names."""
    return next((as_step(record[key]) for key in OF_SAMPLES if key in record), None)


def wall_in(values: Mapping[str, object]) -> tuple[str, float] | None:
    """Return the key and time at which a row was written, where it tells as seconds or milliseconds since 1970."""
    for key in TIMES:
        number = as_number(values[key]) if key in values else None
        if number is not None and math.isfinite(number) and number > EARLIEST:
            return key, number / 1000 if number > 1000 * EARLIEST else number
    return None


def seconds_in(head: str) -> float | None:
    """Return the time in a heading, in seconds from the start of its month."""
    stamp = STAMP.search(head)
    if stamp is None:
        return None
    day, hour, minute, second = (int(stamp[name] or 0) for name in ("day", "hour", "minute", "second"))
    return ((day * 24 + hour) * 60 + minute) * 60 + second + float(f"0.{stamp['part'] or 0}")


def wall_of(time: object) -> float | None:
    """Return seconds since the epoch of a time such as 2026-11-15T11:37:28.745465+00:00."""
    try:
        return datetime.fromisoformat(str(time).replace("Z", "+00:00")).timestamp()  # Python 3.10 knows no Z
    except (ValueError, OverflowError, OSError):
        return None
