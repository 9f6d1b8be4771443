"""Make text from a log safe to show: it may be endless, and a terminal obeys control characters."""

from __future__ import annotations

import unicodedata

from ..digits import shortened

NAME = 120  # characters that the name of a metric, a process or a key may have where it is shown
SENTENCE = 3000  # characters that a sentence may have
UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, invisible and direction marks, lone surrogates, line separators


def printable(text: str) -> str:
    r"""Return `text` with every character a terminal could obey written as its escape.

    >>> printable("run\x1b[31m7")
    'run\\x1b[31m7'
    """
    if text.isprintable():  # which holds none of them; nearly all text is
        return text
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in UNSAFE else char for char in text
    )


def line(text: str, most: int = SENTENCE) -> str:
    r"""Return text as one printable line; a long one loses its middle.

    >>> line("a\x1b[31m" + "b" * 50, 12)
    'a\\x1b[…bbbbb'
    """
    return shortened(printable(text if len(text) <= 2 * most else text[:most] + text[-most:]), most)


def name(text: str) -> str:
    """Return a name from a log, cut to a length that can be shown."""
    return line(text, NAME)
