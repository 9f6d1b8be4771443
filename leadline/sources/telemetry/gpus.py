"""What GPUs did: `nvidia-smi --query-gpu=... --format=csv` with or without units, and `nvidia-smi dmon -o DT`. Both
write the wall clock of their machine and do not say where it is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ...records import dataclass
from ...run import GpuSamples, Steps, Values
from ...vocabulary.names import listed
from .part import GB_PER_MIB, Part, blocks_of

COLUMNS = listed("gpu")  # what nvidia-smi and dmon call it, without its unit: what it is
UNIT = {  # what nvidia-smi counts in
    "power_w": 1.0, "power_limit_w": 1.0, "memory_gb": GB_PER_MIB, "memory_total_gb": GB_PER_MIB, "utilisation": 1.0,
}  # fmt: skip
CSV = re.compile(
    rb"(?i)\A(?:(?=[^\n]*timestamp)(?=[^\n]*,)[^\n]*(?:utilization\.gpu|memory\.used|power\.draw)"
    rb"|\s*\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?\s*,)"
)
DMON = re.compile(rb"#\s*(?:Date\s+)?(?:Time\s+)?gpu\s", re.IGNORECASE)
UNITS = (b" MiB", b" W", b" %")
UNKNOWN = re.compile(rb"\[[^\],]*\]|N/A|(?<![^,])-(?![^,])")
LOOKED_AT = 50  # rows among which the header is
NAMELESS = "it has no header that names its columns; `nvidia-smi --format=csv` writes one"
UNDATED = "it names no dates, so it cannot be placed in the run; `nvidia-smi dmon -o DT` writes them"
QUARTER = 900.0  # seconds: every zone on earth is a multiple of a quarter of an hour off UTC
FARTHEST = 14 * 4  # quarters of an hour
ALIKE = 60.0  # seconds: overlaps that differ by less cannot be told apart
FRESH = 180.0  # a file still lying where it was written was last changed within this of its last sample
STAMP = re.compile(r"\s*(\d{4})\D?(\d{2})\D?(\d{2})\D(\d{2}:\d{2}:\d{2}(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Form:
    """How the rows of a record are parted, and which column holds what."""

    roles: dict[str, int]
    width: int  # columns of a row
    comma: bytes | None = b","  # None: blanks
    local: bool = True  # times are local ones


def rows(path: Path) -> Part:
    """Return the samples of a table, one row a GPU and time."""
    blocks = blocks_of(path)
    begun = next(blocks, [])
    form = _form([line for line in begun[:LOOKED_AT] if line.strip()])
    if form is None:
        return Part(notes=(NAMELESS,))
    if "time" not in form.roles or (form.comma is None and "date" not in form.roles):
        return Part(notes=(UNDATED,))
    gpus = _samples(itertools.chain([begun], blocks), form)
    return Part(gpus=gpus, local=form.local, notes=() if len(gpus) else ("no sample could be read",))


def _form(lines: Sequence[bytes]) -> Form | None:
    """Return the form that a header tells; None if there is none."""
    for line in lines:
        text = line.decode("utf-8", errors="replace").strip().lower()
        if DMON.match(line):
            names = text.lstrip("# ").split()
            return Form(_named(names), len(names), comma=None)
        if "timestamp" in text:
            names = [re.sub(r"\s*\[.*?\]", "", name).strip() for name in text.split(",")]
            return Form(_named(names), len(names), local="timestamp [utc]" not in text)  # our own recorder writes UTC
    return None


def _named(names: Sequence[str]) -> dict[str, int]:
    """Return which column holds what, by the header. The index names a GPU before its identifier does."""
    roles: dict[str, int] = {}
    for wanted in COLUMNS:
        if wanted in names:
            roles.setdefault(COLUMNS[wanted], names.index(wanted))
    return roles


def _samples(blocks: Iterable[list[bytes]], form: Form) -> GpuSamples:
    """Return all samples. Blocks of even rows are read column by column, which is ten times faster than row by row."""
    numbers: dict[bytes, int] = {}
    taken: list[GpuSamples] = []
    for block in blocks:
        pieces = [[line for line in block if line and b"timestamp" not in line and not line.startswith(b"#")]]
        while pieces:
            piece = pieces.pop()
            try:
                taken += _even(piece, form, numbers)
            except ValueError:  # a short row, a word where a number should be: narrowed down by halves, then left out
                half = len(piece) // 2
                pieces += [piece[half:], piece[:half]] if half else []
    names = GpuSamples.__dataclass_fields__ if taken else ()
    return GpuSamples(**{name: np.concatenate([getattr(one, name) for one in taken]) for name in names})


def _even(lines: list[bytes], form: Form, numbers: dict[bytes, int]) -> list[GpuSamples]:
    """Return rows that all hold the same columns and only numbers in them; raises ValueError if they do not."""
    if not lines:
        return []
    columns = list(zip(*(line.split(form.comma) for line in lines), strict=True))
    if len(columns) != form.width:
        raise ValueError("a row is too short or too long")
    times: Sequence[bytes] = columns[form.roles["time"]]
    if "date" in form.roles:
        times = [b" ".join(pair) for pair in zip(columns[form.roles["date"]], times, strict=True)]
    told = {role: _floats(columns[place]) * UNIT[role] for role, place in form.roles.items() if role in UNIT}
    told["walls"] = seconds_of(times)
    names = columns[form.roles["device"]] if "device" in form.roles else None
    return [GpuSamples(devices=_devices(names, numbers, told["walls"]), **told)]


def _floats(cells: Sequence[bytes]) -> Values:
    """Return numbers with or without a unit; NaN for `[N/A]`, `-` and the like."""
    text = b",".join(cells)
    for unit in UNITS:
        text = text.replace(unit, b"")
    if b"[" in text or b"N/A" in text or b"-" in text:
        text = UNKNOWN.sub(b"nan", text)
    return np.array(text.split(b","), dtype=bytes).astype(np.float64)


def _devices(names: Sequence[bytes] | None, numbers: dict[bytes, int], walls: Values) -> Steps:
    """Return which GPU each row is about: its index, or a number for its identifier in order of appearance. If nothing
    names it, samples of one query share their time."""
    if names is None:
        new = np.append(True, walls[1:] != walls[:-1])
        count = np.arange(len(walls))
        return count - np.maximum.accumulate(np.where(new, count, 0))
    for name in dict.fromkeys(names):
        if name not in numbers:
            plain = name.strip()
            numbers[name] = int(plain) if plain.isdigit() and len(plain) < 5 else len(numbers)
    return np.array([numbers[name] for name in names], dtype=np.int64)


def seconds_of(times: Sequence[bytes]) -> Values:
    """Return `2026/11/15 08:00:00.123` and the like as seconds as if the clock showed UTC. Raises ValueError."""
    found = [STAMP.match(text.decode("ascii", errors="replace")) for text in times]
    told = ["{}-{}-{}T{}".format(*one.groups()) for one in found if one is not None]
    if len(told) < len(times):
        raise ValueError("a row without a time")
    seconds: Values = np.array(told, dtype="datetime64[us]").astype(np.int64) / 1e6
    return seconds


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
