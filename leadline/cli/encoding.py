"""Output whose encoding lacks our characters: cp1252 on Windows, latin-1, ASCII. Lines and plots are drawn with what
there is, and no character ends a reading."""

from __future__ import annotations

import codecs
import sys
import unicodedata

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


def fit_streams() -> None:
    """Let what is printed fit the encoding of the output. UTF-8 holds everything and is left as it is."""
    codecs.register_error(HANDLER, _nearest)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or ""
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not encoding.lower().replace("-", "").startswith("utf"):
            reconfigure(errors=HANDLER)


def _nearest(error: UnicodeError) -> tuple[str | bytes, int]:
    """The text that stands for characters an encoding lacks."""
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
