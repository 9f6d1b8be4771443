"""Lines of a report: a margin that names what each is about, text that wraps beside it."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from .plain import printable

MARGIN = 9  # columns that name what a line is about


def field(name: str, says: str, style: str = "") -> tuple[str, Text]:
    """One line: what it is about and what it says. `says` may quote a log."""
    return name, Text(printable(says), style)


def page(lines: Iterable[tuple[str, Text]], *, color: bool, width: int, margin: int = MARGIN) -> str:
    """The lines as text for a terminal."""
    text = io.StringIO()
    console = Console(
        file=text,
        width=max(width, 40),
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        legacy_windows=False,
        _environ={},
    )
    for name, says in lines:
        for number, part in enumerate(says.wrap(console, console.width - margin, overflow="fold") or [Text()]):
            line = Text.assemble((f"{'' if number else name:<{margin}}", "dim"), part)
            line.rstrip()
            console.print(line, soft_wrap=True)
    return text.getvalue()
