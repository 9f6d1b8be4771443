"""Lines of a file that may be far too large to read: all of them, or windows spread over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ..number import loads

BUDGET = 1 << 24  # bytes read of one file
WINDOWS = 64  # places at which a larger file is looked into, its first and last lines among them
LONGEST = 1 << 23  # bytes of a line: a sample with the log-probabilities of all its tokens is long
MOST = 2048  # samples of one step that are handed on

One = TypeVar("One")


def spread(items: Sequence[One], most: int) -> Sequence[One]:
    """At most `most` of `items`, evenly spread, the first and the last among them. The same ones each time.

    >>> spread(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(items) <= most:
        return items
    if most == 1:
        return items[:1]
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def lines_at(path: Path, budget: int = BUDGET) -> Iterator[tuple[int, bytes]]:
    """Lines with the byte at which they start. A file beyond the budget is read in windows of neighbouring lines, since
    neighbours are often one group. Which windows depends on the size of the file alone."""
    size = path.stat().st_size
    whole = size <= budget
    width = size if whole else budget // WINDOWS
    starts = [0] if whole else [place * (size - width) // (WINDOWS - 1) for place in range(WINDOWS)]
    with path.open("rb") as file:
        done = 0  # everything before it was looked at
        for start in starts:
            place = max(start, done)
            file.seek(place)
            if place > done:  # in the middle of a line
                place += len(file.readline(LONGEST))
            while place < start + width:
                line = file.readline(LONGEST)
                if not line:
                    return
                if line.endswith(b"\n") or len(line) < LONGEST:  # the last one may lack its end and still be whole
                    yield place, line
                    place += len(line)
                elif whole:
                    return  # longer than any sample
                else:
                    place = start + width
            done = place


def records(path: Path, budget: int = BUDGET) -> Iterator[Mapping[str, object]]:
    """The JSON objects among those lines; torn and damaged ones are left out."""
    for _, line in lines_at(path, budget):
        if (record := parsed(line)) is not None:
            yield record


def parsed(line: bytes) -> Mapping[str, object] | None:
    try:
        record = loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def record_at(path: Path, offset: int) -> Mapping[str, object] | None:
    """The JSON object in the line that starts at a byte."""
    with path.open("rb") as file:
        file.seek(offset)
        return parsed(file.readline(LONGEST))
