"""Files that may keep samples: what their paths say, and their records, whatever format they are in."""

from __future__ import annotations

import csv
import importlib.util
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import install, need
from ..number import as_step, loads, object_in
from ..paths import COUNT, keeps_samples

NUMBERED = re.compile(r"(.+?)_?(\d+)")  # a column of one of several samples in a row

BUDGET = 1 << 24  # bytes read of one file
WINDOWS = 64  # places at which a larger file is looked into, its first and last lines among them
LONGEST = 1 << 23  # bytes of a line: a sample with the log-probabilities of all its tokens is long
LARGEST = {".csv": 1 << 24, ".json": 1 << 26, ".parquet": 1 << 26}  # bytes of a document, which is read whole
PARQUET = b"PAR1"  # at both ends of a whole file

Record = Mapping[str, object]


def records(file: Path, budget: int = BUDGET) -> Iterator[tuple[int, Record]]:
    """Yield the records of a file with their places: the byte of a line, or the number of a row. Damaged ones are left
    out, and so are some of a file of lines beyond the budget. Raises OSError only."""
    if file.suffix == ".jsonl":
        lines = ((at, object_in(line)) for at, line in lines_at(file, budget))
        yield from ((at, record) for at, record in lines if record is not None)
    else:
        yield from enumerate(_document(file))


def record_at(file: Path, at: int) -> Record | None:
    """Return the record at a place that `records` gave."""
    if file.suffix == ".jsonl":
        with file.open("rb") as opened:
            opened.seek(at)
            return object_in(opened.readline(LONGEST))
    held = _document(file)
    return held[at] if at < len(held) else None


def lines_at(path: Path, budget: int = BUDGET) -> Iterator[tuple[int, bytes]]:
    """Yield lines with the byte at which they start. A file beyond the budget is read in windows of neighboring lines,
    since neighbors are often one group. Which windows depends on the size of the file alone."""
    size = path.stat().st_size
    whole = size <= budget
    width = size if whole else budget // WINDOWS
    starts = [0] if whole else [place * (size - width) // (WINDOWS - 1) for place in range(WINDOWS)]
    longest = max(LONGEST, size + 1) if whole else LONGEST
    with path.open("rb") as file:
        done = 0  # everything before it was looked at
        for start in starts:
            place = max(start, done)
            file.seek(place)
            if place > done:  # in the middle of a line
                place += len(file.readline(longest))
            while place < start + width:
                line = file.readline(longest)
                if not line:
                    return
                if line.endswith(b"\n") or len(line) < longest:  # the last one may lack its end and still be whole
                    yield place, line
                    place += len(line)
                else:
                    place = start + width
            done = place


def _document(file: Path) -> Sequence[Record]:
    """Return the records of a file that is read whole: of a table with a head, of Parquet, or of a JSON document, whose
    longest list of objects they are."""
    state = file.stat()
    return () if is_too_large(file) else _read_document(file, state.st_size, state.st_mtime_ns)


def is_too_large(file: Path) -> bool:
    """Return whether a file that has to be read whole is too large for that."""
    return file.stat().st_size > LARGEST.get(file.suffix, math.inf)


@lru_cache(maxsize=4)
def _read_document(file: Path, size: int, written: int) -> Sequence[Record]:
    if file.suffix == ".csv":
        with file.open(newline="", encoding="utf-8", errors="replace") as opened:
            try:
                return [{str(key): value for key, value in row.items()} for row in csv.DictReader(opened)]
            except csv.Error:
                return ()
    if file.suffix == ".parquet":
        return list(_parquet_rows(file))
    try:
        document = loads(file.read_bytes())
    except ValueError:
        return ()
    if isinstance(document, dict) and isinstance(columns := document.get("columns"), list):  # as W&B keeps tables
        data = document.get("data")
        table = [row for row in data if isinstance(row, list)] if isinstance(data, list) else []
        return [part for row in table for part in _parted(dict(zip(map(str, columns), row, strict=False)))]
    held = (document, *document.values()) if isinstance(document, dict) else (document,)
    lists = [[one for one in rows if isinstance(one, dict)] for rows in held if isinstance(rows, list)]
    steps = [as_step(COUNT.sub("", key)) for key in document] if isinstance(document, dict) else [None]
    if None not in steps and len(lists) == len(steps):  # {"step_10": [{...}, ...], "step_20": ...}
        return [{"step": step, **one} for step, rows in zip(steps, lists, strict=True) for one in rows]
    found = max(lists, key=len, default=[])
    if isinstance(document, dict) and found and all("role" in turn and "content" in turn for turn in found):
        return [document]  # a chat is one sample
    return found


def _parted(row: Record) -> list[Record]:
    """Return a row of several samples, as `output_1`, `output_2`, as that many rows."""
    shared = {key: value for key, value in row.items() if not NUMBERED.fullmatch(key)}
    parts: dict[str, dict[str, object]] = {}
    for key, value in row.items():
        if name := NUMBERED.fullmatch(key):
            parts.setdefault(name[2], dict(shared))[name[1]] = value
    return list(parts.values()) or [row]


def readable_parquet(files: Sequence[Path], notes: list[str]) -> list[Path]:
    """Return the Parquet files that can be read; `notes` gets why the others cannot."""
    if importlib.util.find_spec("pyarrow") is None:
        if count := sum(map(keeps_samples, files)):
            notes.append(f"{count} Parquet files of samples were left out: {install('parquet')} reads them")
        return []
    whole = [file for file in files if _is_whole(file)]
    notes += [f"{file.name} breaks off and was left out" for file in files if file not in whole]
    return whole


def _is_whole(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            start = opened.read(4)
            opened.seek(0, 2)
            opened.seek(max(opened.tell() - 4, 0))
            return start == PARQUET == opened.read(4)
    except OSError:
        return False


def _parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file, a batch at a time. What cannot be decoded ends it quietly."""
    arrow = need("pyarrow", extra="parquet", to="read samples kept as Parquet")
    module = need("pyarrow.parquet", extra="parquet", to="read samples kept as Parquet")
    try:
        for batch in module.ParquetFile(file).iter_batches(batch_size=256):
            yield from batch.to_pylist()
    except (arrow.ArrowException, OSError, ValueError):
        return
