"""Lines of a report: a margin that names what each is about, text that wraps beside it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from .plain import printable

MARGIN = 9  # columns that name what a line is about
NARROWEST = 40  # columns: below that nothing can be laid out
UNBROKEN = re.compile(r"(?<=\d) (?=%)|(?<=[ (][<>]) (?=[\d.])|(?<=\bstep) (?=\d)")
GLUE = "\ue000"  # of no script: it stands for a space that is no place to break a line
SENTENCE = re.compile(r"(?<=[.!?]) +")


def field(name: str, says: str, style: str = "") -> tuple[str, Text]:
    """One line: what it is about and what it says. `says` may quote a log."""
    return name, Text(printable(says), style)


def page(lines: Iterable[tuple[str, Text]], *, color: bool, width: int, margin: int = MARGIN) -> str:
    """The lines as text for a terminal, each as long as it needs."""
    width = max(width, NARROWEST)
    return shown(
        [line for name, says in lines for line in beside(name, wrapped(says, width - margin), margin)],
        color=color,
        width=width,
    )


def wrapped(says: Text, room: int) -> list[Text]:
    """The text in lines of at most `room` columns; at least one. A number stays with its sign and its unit."""
    glued = says.copy()
    glued.plain = UNBROKEN.sub(GLUE, says.plain)
    lines = list(glued.wrap(_console(room), room, overflow="fold")) or [Text()]
    for line in lines:
        line.plain = line.plain.replace(GLUE, " ")
    return lines


def beside(name: str, lines: Sequence[Text], margin: int = MARGIN, style: str = "dim") -> list[Text]:
    """The lines with a margin; the first one names what they are about."""
    return [
        Text.assemble((f"{'' if number else name:<{margin}}", style), line, end="") for number, line in enumerate(lines)
    ]


def shown(lines: Iterable[Text], *, color: bool, width: int) -> str:
    """Lines that are laid out already, as text for a terminal."""
    console = _console(width, color=color)
    for line in lines:
        bare = line.copy()
        bare.rstrip()
        console.print(bare, soft_wrap=True)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def first_sentence(says: str) -> str:
    """What of a text may stand out: up to its first full stop. Typography, as the wrapping is; nothing is read from it.

    >>> first_sentence("Reward fell to 0.2. Nobody knows why.")
    'Reward fell to 0.2.'
    """
    return SENTENCE.split(says, maxsplit=1)[0]


def shortened(says: str, room: int, most: int, tail: str = "") -> str:
    """`says` and then `tail` in at most so many lines of `room` columns: cut after a sentence, else after a word, else
    anywhere, and a mark where something was left out.

    >>> shortened("Reward fell. Nobody knows why.", 24, 1, " (p=.9)")
    'Reward fell. … (p=.9)'
    """
    says = says if len(says) <= 2 * room * most else says[: 2 * room * most] + "…"  # a log may hold words of a megabyte
    if _lines(says + tail, room) <= most:
        return says + tail
    for parts in (SENTENCE.split(says), says.split(" ")):
        for count in range(len(parts) - 1, 0, -1):
            short = f"{' '.join(parts[:count])} …{tail}"
            if _lines(short, room) <= most:
                return short
    return f"{says[: max(room * most - cell_len(tail) - 2, 0)]}…{tail}"


def _lines(says: str, room: int) -> int:
    return len(wrapped(Text(says), room))


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
