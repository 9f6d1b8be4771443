"""Figures as tables that can be pasted into a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """One row of the issue's list, with the figure of every method."""

    title: str
    target: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def text(self) -> str:
        """The table in Markdown, columns aligned for the eye."""
        cells = [list(self.columns), *[list(row) for row in self.rows]]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        lines = [f"| {' | '.join(map(str.ljust, row, widths))} |" for row in cells]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        head = [f"### {self.title}", f"Target: {self.target}"]
        return "\n".join([*head, "", *lines, *(["", self.note] if self.note else []), ""])


def share(hits: Iterable[object]) -> str:
    """A rate with its counts: `.012 (3/250)`."""
    seen = [bool(hit) for hit in hits]
    if not seen:
        return "-"
    return f"{sum(seen) / len(seen):.3f} ({sum(seen)}/{len(seen)})"


def rate(hits: Iterable[object]) -> str:
    """A rate alone, for tables whose counts stand in the title."""
    seen = [bool(hit) for hit in hits]
    return f"{sum(seen) / len(seen):.2f}" if seen else "-"


def average(values: Iterable[float], digits: int = 3) -> str:
    """A mean with its standard error: `.034 +- .002`."""
    seen = np.array([value for value in values if value is not None], dtype=float)
    if seen.size == 0:
        return "-"
    error = seen.std(ddof=1) / np.sqrt(seen.size) if seen.size > 1 else float("nan")
    return f"{seen.mean():.{digits}f} ± {error:.{digits}f}"


def grid(
    records: Sequence[Record], down: str, across: str, figure: Callable[[list[Record]], str]
) -> tuple[list[str], list[list[str]]]:
    """A two-way table of a figure, with a total in the last column."""
    heads = sorted({record[across] for record in records})
    columns = [down, *[f"{across} {head}" for head in heads], "all"]
    rows = []
    for value in sorted({record[down] for record in records}):
        mine = [record for record in records if record[down] == value]
        cells = [figure([record for record in mine if record[across] == head]) for head in heads]
        rows.append([str(value), *cells, figure(mine)])
    return columns, rows


def where(records: Iterable[Record], **wanted: object) -> list[Record]:
    """The records that hold all the wanted values."""
    return [record for record in records if all(record.get(key) == value for key, value in wanted.items())]


@dataclass(frozen=True, slots=True)
class Headline:
    """One line of the summary: Leadline's figure first, then every peer's, from the same series."""

    what: str
    target: str
    figures: dict[str, str]


def summary(headlines: Sequence[Headline]) -> Table:
    """The first table of the page."""
    rows = []
    for line in headlines:
        ours, *peers = line.figures.items()
        rows.append([line.what, line.target, ours[1], "; ".join(f"{name} {figure}" for name, figure in peers)])
    return Table("Summary", "see each row", ["what", "target", "Leadline", "peers, same series"], rows)
