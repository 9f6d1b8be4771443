"""Text from a log made safe to show: it may hold anything, and a terminal obeys control characters."""

from __future__ import annotations

import unicodedata

UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, invisible and direction marks, lone surrogates, line separators


def printable(text: str) -> str:
    r"""`text` with every character a terminal could obey written as its escape.

    >>> printable("run\x1b[31m7")
    'run\\x1b[31m7'
    """
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in UNSAFE else char for char in text
    )
