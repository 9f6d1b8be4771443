"""Lines of a report: a label in the margin, and text that wraps beside it."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from .plain import line as on_one_line
from .plain import printable

MARGIN = 9  # columns that name what a line is about
NARROWEST = 40  # columns: below that nothing can be laid out
UNBROKEN = re.compile(r"(?<=\d) (?=%)|(?<=[ (][<>]) (?=[\d.])|(?<=\bstep) (?=\d)")
GLUE = "\ue000"  # of no script: it stands for a space that is no place to break a line
SENTENCE = re.compile(r"(?<=[.!?]) +")


def field(name: str, says: str, style: str = "") -> tuple[str, Text]:
    """Return one line as a label and its text, which may quote a log."""
    return name, Text(printable(says), style)


def page(lines: Iterable[tuple[str, Text]], *, color: bool, width: int, margin: int = MARGIN) -> str:
    """Return labeled lines as text for a terminal."""
    width = max(width, NARROWEST)
    return shown(
        [line for name, says in lines for line in beside(name, wrapped(says, width - margin), margin)],
        color=color,
        width=width,
    )


def labeled(
    name: str,
    says: str,
    width: int,
    most: int | None = None,
    *,
    tail: str = "",
    label: str = "dim",
    style: str = "",
    quoted: bool = False,
) -> list[Text]:
    """Return a labeled text, whole or shortened to `most` lines; its tail is never cut off. `label`: the style of the
    label."""
    room = width - MARGIN
    says = on_one_line(says)
    text = f"{says}{tail}" if most is None else shortened(says, room, most, tail, quoted=quoted)
    return beside(name, wrapped(Text(text, style), room), style=label)


def wrapped(says: Text, room: int) -> list[Text]:
    """Wrap text to `room` columns; at least one line. A number stays with its sign and its unit."""
    glued = says.copy()
    glued.plain = UNBROKEN.sub(GLUE, says.plain)
    lines = list(glued.wrap(_console(room), room, overflow="fold")) or [Text()]
    for line in lines:
        line.plain = line.plain.replace(GLUE, " ")
    return lines


def beside(name: str, lines: Sequence[Text], margin: int = MARGIN, style: str = "dim") -> list[Text]:
    """Return the lines with a margin; the first one carries the label."""
    return [
        Text.assemble((f"{'' if number else name:<{margin}}", style), line, end="") for number, line in enumerate(lines)
    ]


def shown(lines: Iterable[Text], *, color: bool, width: int) -> str:
    """Return laid-out lines as text for a terminal."""
    console = _console(width, color=color)
    for line in lines:
        bare = line.copy()
        bare.rstrip()
        console.print(bare, soft_wrap=True)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def aligned(
    rows: Sequence[Sequence[str]], width: int = sys.maxsize, *, spare: Sequence[int] = (), styles: Sequence[str] = ()
) -> Iterator[Text]:
    """Lay rows out in columns, the first row as a dim head. Empty columns go, then those of `spare` in order until all
    fits; what is still too wide is cut. `styles`: of the first cell of each row below the head."""
    cells = [[printable(cell) for cell in row] for row in rows]
    wide = {place: max(map(cell_len, column)) for place, column in enumerate(zip(*cells, strict=True)) if any(column)}
    for place in spare:
        if sum(wide.values()) + 2 * (len(wide) - 1) > width:
            wide.pop(place, None)
    for number, row in enumerate(cells):
        line = Text(style="" if number else "dim")
        for place, room in wide.items():
            style = styles[number - 1] if number and styles and place == 0 else ""
            line.append(f"{row[place]}{' ' * (room - cell_len(row[place]) + 2)}", style)
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
        yield line


def shortened(says: str, room: int, most: int, tail: str = "", *, quoted: bool = False) -> str:
    """Return `says` and `tail` in at most `most` lines of `room` columns: cut after a sentence (not if it is `quoted`
    text), else after a word, else anywhere, with a mark at the cut.

    >>> shortened("Reward fell. Nobody knows why.", 24, 1, " (p=.9)")
    'Reward fell. … (p=.9)'
    """
    says = says if len(says) <= 2 * room * most else says[: 2 * room * most] + "…"  # a log may hold words of a megabyte
    shorter = (
        f"{' '.join(parts[:count])} …{tail}"
        for parts in ([] if quoted else SENTENCE.split(says), says.split(" "))
        for count in range(len(parts) - 1, 0, -1)
    )
    for one in chain([says + tail], shorter):
        if len(wrapped(Text(one), room)) <= most:
            return one
    return f"{says[: max(room * most - cell_len(tail) - 2, 0)]}…{tail}"


def _console(width: int, *, color: bool = False) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        no_color=not color,
        color_system="256" if color else None,
        legacy_windows=False,
        force_jupyter=False,  # else rich shows each line in the notebook itself, and the text is empty
        _environ={},
    )
