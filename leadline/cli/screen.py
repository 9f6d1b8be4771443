"""The terminal we print to: color, size, and encoding."""

from __future__ import annotations

import os
import shutil
import sys

WIDTH, HEIGHT = 100, 40  # of a page, if there is no screen


def color(no_color: bool) -> bool:
    """Return whether to use color: on a terminal that has it, unless switched off (https://no-color.org)."""
    wanted = not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return sys.stdout.isatty() and wanted


def width() -> int:
    return shutil.get_terminal_size((WIDTH, HEIGHT)).columns


def height() -> int:
    """Return the lines of one screen, less one for the prompt."""
    return shutil.get_terminal_size((WIDTH, HEIGHT)).lines - 1 if sys.stdout.isatty() else HEIGHT


def fit_streams() -> None:
    """Write UTF-8, whatever the locale says: as every Python will (https://peps.python.org/pep-0686). What is no text,
    such as half a character in a file's name, is spelled."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
