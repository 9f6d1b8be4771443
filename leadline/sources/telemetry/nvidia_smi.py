"""`nvidia-smi --query-gpu=... --format=csv`, with or without units and header (atlas.md section 6)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from ...run import Steps, Values
from .clock import STAMP, stamps
from .part import GB_PER_MIB, GpuColumns, Part, blocks_of, number

NAME = "nvidia-smi"

COLUMNS = {  # what nvidia-smi calls it, without its unit: what it is
    "timestamp": "time", "index": "device", "uuid": "device", "gpu_uuid": "device", "pci.bus_id": "device",
    "gpu_bus_id": "device", "power.draw": "power", "power.draw.instant": "power", "power.draw.average": "power",
    "power.limit": "limit", "enforced.power.limit": "limit", "memory.used": "memory", "memory.total": "total",
    "utilization.gpu": "utilisation",
}  # fmt: skip
ROW = re.compile(rb"\s*\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?\s*,")
UNITS = (b" MiB", b" W", b" %")
UNKNOWN = re.compile(rb"\[[^\],]*\]|N/A")
LOOKED_AT = 50  # rows by which columns without names are told


def recognises(path: Path, head: bytes) -> bool:
    first = head.split(b"\n", 1)[0].lower()
    if b"," in first and (b"utilization.gpu" in first or b"memory.used" in first or b"power.draw" in first):
        return b"timestamp" in first
    return ROW.match(head) is not None


def parse(path: Path) -> Part:
    blocks = blocks_of(path)
    first = next(blocks, [])
    early = [line.decode("utf-8", errors="replace").strip() for line in first[:LOOKED_AT] if line.strip()]
    header = next((row for row in early if "timestamp" in row.lower()), None)
    notes: list[str] = []
    if header is not None:
        roles = _named(header)
    else:
        roles = _guessed([row.split(", ") for row in early])
        notes.append("no header: columns were told by their units" if _has_units(early) else GUESSED)
    if "time" not in roles:
        return Part(notes=("it names no times, so it cannot be placed in the run",))
    gpus = _samples(itertools.chain([first], blocks), roles)
    if not len(gpus):
        notes.append("no sample could be read")
    in_utc = header is not None and "timestamp [utc]" in header.lower()  # as our own recorder writes it
    return Part(gpus=gpus.samples(), local=not in_utc, notes=tuple(notes))


GUESSED = "no header and no units: columns were guessed from how their numbers look"


def _named(header: str) -> dict[str, int]:
    """Which column holds what, by the header. The index names a GPU before its identifier does."""
    names = [re.sub(r"\s*\[.*?\]", "", name).strip().lower() for name in header.split(",")]
    roles: dict[str, int] = {}
    for wanted in COLUMNS:
        if wanted in names:
            roles.setdefault(COLUMNS[wanted], names.index(wanted))
    return roles


def _has_units(rows: Sequence[str]) -> bool:
    return any(" MiB" in row or " W" in row or " %" in row for row in rows)


def _guessed(rows: Sequence[Sequence[str]]) -> dict[str, int]:
    """Which column holds what, by units, else by the look of the numbers: watts have decimals, percents end at 100."""
    roles: dict[str, int] = {}
    width = min((len(row) for row in rows), default=0)
    for place in range(width):
        cells = [row[place] for row in rows]
        values = [value for value in map(number, cells) if not math.isnan(value)]
        if all(STAMP.match(cell) for cell in cells):
            roles.setdefault("time", place)
        elif any(cell.startswith("GPU-") for cell in cells):
            roles.setdefault("device", place)
        elif any(cell.endswith(" W") for cell in cells):
            roles.setdefault("limit" if "power" in roles else "power", place)
        elif any(cell.endswith(" MiB") for cell in cells):
            roles.setdefault("total" if "memory" in roles else "memory", place)
        elif any(cell.endswith(" %") for cell in cells):
            roles.setdefault("utilisation", place)
        elif not values or any(" " in cell.strip("[] ") for cell in cells):
            continue
        elif "device" not in roles and place == 1 and all(value == int(value) and value < 64 for value in values):
            roles["device"] = place
        elif any("." in cell for cell in cells):
            roles.setdefault("limit" if "power" in roles else "power", place)
        elif max(values) > 100:
            roles.setdefault("total" if "memory" in roles else "memory", place)
        else:
            roles.setdefault("utilisation", place)
    return roles


def _samples(blocks: Iterable[list[bytes]], roles: dict[str, int]) -> GpuColumns:
    """All samples. Blocks of even rows are read column by column, which is ten times faster than row by row."""
    when = stamps()
    numbers: dict[bytes, int] = {}
    gpus = GpuColumns()
    for block in blocks:
        pieces = [[line for line in block if line and b"timestamp" not in line]]
        while pieces:
            piece = pieces.pop()
            try:
                _take_even(gpus, piece, roles, numbers, when)
            except ValueError:  # a short row, a word where a number should be: narrowed down by halves, then left out
                half = len(piece) // 2
                pieces += [piece[half:], piece[:half]] if half else []
    return gpus


def _take_even(
    gpus: GpuColumns,
    lines: list[bytes],
    roles: dict[str, int],
    numbers: dict[bytes, int],
    when: Callable[[bytes], float | None],
) -> None:
    """Rows that all hold the same columns and only numbers in them; ValueError where they do not."""
    if not lines:
        return
    columns = list(zip(*(line.split(b",") for line in lines), strict=True))
    walls = [when(text) for text in columns[_place(columns, roles["time"])]]
    if None in walls:
        raise ValueError("a row without a time")
    told = {
        _COLUMN[role]: _floats(columns[_place(columns, place)]) * (GB_PER_MIB if role in ("memory", "total") else 1.0)
        for role, place in roles.items()
        if role in _COLUMN
    }
    told["walls"] = np.array(walls, dtype=np.float64)
    gpus.extend(_devices(columns, roles.get("device"), numbers, told["walls"]), told)


_COLUMN = {
    "power": "power_w", "memory": "memory_gb", "utilisation": "utilisation", "total": "memory_total_gb", "limit":
    "power_limit_w",
}  # fmt: skip


def _place(columns: Sequence[object], place: int) -> int:
    if place >= len(columns):
        raise ValueError("a row is too short")
    return place


def _floats(cells: Sequence[bytes]) -> Values:
    """Numbers with or without a unit; NaN for `[N/A]` and its like."""
    text = b",".join(cells)
    for unit in UNITS:
        text = text.replace(unit, b"")
    if b"[" in text or b"N/A" in text:
        text = UNKNOWN.sub(b"nan", text)
    return np.array(text.split(b","), dtype=bytes).astype(np.float64)


def _devices(columns: Sequence[Sequence[bytes]], place: int | None, numbers: dict[bytes, int], walls: Values) -> Steps:
    """Which GPU each row is about: its index, or a number for its identifier in order of appearance. Where nothing
    names it, samples of one query share their time."""
    if place is None:
        new = np.append(True, walls[1:] != walls[:-1])
        rows = np.arange(len(walls))
        return rows - np.maximum.accumulate(np.where(new, rows, 0))
    names = columns[_place(columns, place)]
    for name in dict.fromkeys(names):
        if name not in numbers:
            plain = name.strip()
            numbers[name] = int(plain) if plain.isdigit() and len(plain) < 5 else len(numbers)
    return np.array([numbers[name] for name in names], dtype=np.int64)
