"""What the screen we print to can show."""

from __future__ import annotations

import shutil
import sys


def color(no_color: bool) -> bool:
    return sys.stdout.isatty() and not no_color


def width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
