"""The reading as Markdown for pull requests and chats: the screen, as code, which all of them show as it stands."""

from __future__ import annotations

import re

from ..contract import Reading
from . import terminal


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """Return the screen between fences that no text of a log can close."""
    screen = terminal.render(reading, width=width, verbose=verbose)
    fence = "`" * max(3, *(len(held) + 1 for held in re.findall("`+", screen)), 0)
    return f"{fence}text\n{screen}{fence}\n"
