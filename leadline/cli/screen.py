"""The terminal we print to: color, size, and an encoding that may lack our characters."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import unicodedata

WIDTH, HEIGHT = 100, 40  # of a page, if there is no screen
HANDLER = "leadline"
LIKE = {
    **dict.fromkeys("─━╌┄", "-"),
    **dict.fromkeys("│┃┤├╎┊┆┇┋▏", "|"),
    **dict.fromkeys("┌┐└┘┬┴┼╭╮╰╯", "+"),
    **dict.fromkeys("█▇▆▅▄▃▂▁▓▒░■●◆", "#"),
    **dict.fromkeys("·•∙", "-"),
    "…": "...",
    "→": "->",
    "←": "<-",
    "≥": ">=",
    "≤": "<=",
    "≈": "~",
    "±": "+-",
    "×": "x",
    "−": "-",
    "–": "-",
    "—": "-",
    "σ": "sd",
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
}
BRAILLE = range(0x2800, 0x2900)  # the dots of our plots


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
    """Replace characters that the output's encoding lacks (cp1252, latin-1, ASCII). UTF-8 is left as it is."""
    codecs.register_error(HANDLER, _nearest)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or ""
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not encoding.lower().replace("-", "").startswith("utf"):
            reconfigure(errors=HANDLER)


def _nearest(error: UnicodeError) -> tuple[str | bytes, int]:
    """Codec error handler: the nearest text that the encoding has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    shown = "".join(map(_like, lacking))
    return shown.encode(error.encoding, errors="replace").decode(error.encoding), error.end


def _like(character: str) -> str:
    if character in LIKE:
        return LIKE[character]
    if ord(character) in BRAILLE:
        return " .:"[min((ord(character) - BRAILLE.start).bit_count(), 2)]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", errors="ignore").decode()
    return plain or "?"
