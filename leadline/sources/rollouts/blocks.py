"""Samples that a loop printed as text: which files hold them, and in what order. Samples with a time belong together
where it is the same second; the others come in the order of the file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ...vocabulary.names import tokens
from ..paths import is_held_out, keeps_samples, step_in
from .index import FoundSamples, Place

if TYPE_CHECKING:
    from .forms import Told

SUFFIXES = {".txt", ".log", ".out", ".err", ".md", ".ipynb", ""}
LARGEST = 1 << 25  # bytes of a file, which is read whole
HEAD = 1 << 18  # bytes by which a file is known
MOST_FILES = 40
PAUSE, FAR_LONGER, USUAL = 900.0, 10.0, 0.9  # seconds; times the gap that so large a share of the gaps is below
FEWEST = 3  # gaps that tell a usual one
MONTH = 28 * 86400.0  # seconds: a stamp without a month begins anew


def index(files: Sequence[Path]) -> FoundSamples:
    """Return the samples among text files. If the name of one holds all words of another's, the shorter name is of all
    samples, and the other of a choice among them."""
    looked = [file for file in files if file.suffix.lower() in SUFFIXES][:MOST_FILES]
    held = {file: told for file in looked if (told := told_in(file)) is not None}
    found = FoundSamples()
    found.notes += [
        f"{file.name} was not read: no rule or label parts the samples in it"
        for file in looked
        if file not in held and keeps_samples(file)
    ]
    for file, told in held.items():
        mine = {*tokens(file.stem)}
        if any(other.parent == file.parent and {*tokens(other.stem)} < mine for other in held):
            found.notes.append(f"{file.name} was left out: by its name it is a choice among the samples beside it")
            continue
        found.score = told.score
        if told.others:
            found.notes.append(f"{file.name} also scores its samples by {', '.join(told.others)}; {told.score} is read")
        *earlier, last = _starts(told, _batches(told))
        found.earlier += [[Place(file, place) for place in batch] for start in earlier for batch in start]
        named = step_in(file) if keeps_samples(file) else None
        for batch in last:
            step = told.samples[batch[0]].step
            places = [Place(file, place, share=told.samples[place].share) for place in batch]
            step = named if step is None else step
            if step is None:
                found.unplaced.append(places)
                continue
            for place in places:
                found.add(step, place, evaluation=told.held_out or is_held_out(file))
        if earlier:
            begins = ", ".join(str(sum(map(len, earlier[:count])) + 1) for count in range(1, len(earlier) + 1))
            found.notes.append(f"{file.name} pauses for long before batch {begins}: another start may begin there")
    return found


def _starts(told: Told, batches: list[list[int]]) -> list[list[list[int]]]:
    """Return the batches of each start of the program: a gap far longer than nearly all others lies between two."""
    times = [told.samples[batch[0]].time for batch in batches]
    gaps = [max(after - before, 0.0) for before, after in pairwise(time for time in times if time is not None)]
    if len(gaps) != len(batches) - 1 or len(gaps) < FEWEST:
        return [batches]
    long = max(PAUSE, FAR_LONGER * sorted(gaps)[int(USUAL * len(gaps))])
    begins = [0, *(place for place, gap in enumerate(gaps, start=1) if gap > long), len(batches)]
    return [batches[first:last] for first, last in pairwise(begins)]


def told_in(file: Path) -> Told | None:
    """Return the samples that a text file holds; None if it holds none."""
    try:
        state = file.stat()
    except OSError:
        return None
    if not 0 < state.st_size <= LARGEST:
        return None
    return _told(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4)
def _told(file: Path, size: int, written: int) -> Told | None:
    from .forms import promises, told_by  # only if there is a text

    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST)
            if file.suffix == ".ipynb":
                from ..notebook import printed_in  # only if there is one

                data = printed_in(data).encode()
            places = {0, len(data) // 2, max(0, len(data) - HEAD)}
            some = (data[at : at + HEAD].decode(errors="replace") for at in places)
            if b"\0" in data[:4096] or not ("┃".encode() in data or any(promises(head, file) for head in some)):
                return None
    except OSError:
        return None
    return told_by(data.decode(errors="replace").replace("\r\n", "\n"), file)


def _batches(told: Told) -> list[list[int]]:
    """Return the places of samples that were scored together, in order: those of one second."""
    times = [one.time for one in told.samples if one.time is not None]
    if len(times) < len(told.samples):
        return [[place] for place in range(len(told.samples))]
    months = [0.0, *accumulate(MONTH * (before - after > MONTH / 2) for before, after in pairwise(times))]
    times = [time + month for time, month in zip(times, months, strict=False)]
    order = sorted(range(len(times)), key=lambda place: times[place])
    return [list(batch) for _, batch in groupby(order, key=lambda place: int(times[place]))]
