"""What the screen we print to can show."""

from __future__ import annotations

import os
import shutil
import sys

WIDTH, HEIGHT = 100, 40  # of a page, where there is no screen


def color(no_color: bool) -> bool:
    """Whether to use colour: on a terminal that has some, unless told otherwise (https://no-color.org)."""
    wanted = not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return sys.stdout.isatty() and wanted


def width() -> int:
    return shutil.get_terminal_size((WIDTH, HEIGHT)).columns


def height() -> int:
    """Lines of one screen, less the one that the prompt takes."""
    return shutil.get_terminal_size((WIDTH, HEIGHT)).lines - 1 if sys.stdout.isatty() else HEIGHT
