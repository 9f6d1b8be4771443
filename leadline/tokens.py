"""Token cost of a text, counted without a tokenizer and rather too high than too low."""

from __future__ import annotations

import math
import re

PIECES = re.compile(r"[A-Za-z]+|[0-9]+|[ \t]+|[\x21-\x7e]|\n|[^\x00-\x7f]|[\x00-\x08\x0b-\x1f\x7f]")
PLAIN = 7  # letters of a word that a tokenizer knows whole, most of the time
UNSPEAKABLE = re.compile(r"[^aeiouyAEIOUY]{5}|[A-Z]{5}")  # no word: a tokenizer takes it nearly letter by letter


def cost(text: str) -> int:
    """Return the tokens that `text` costs, rather too many than too few: what a policy wrote need not be words.

    >>> cost("Reward has fallen."), cost("xqzvkwjpqx"), cost("3.14159")
    (6, 7, 4)
    """
    total = 0.0
    for piece in PIECES.findall(text):
        if piece.isascii() and piece.isalpha():
            whole = len(piece) <= PLAIN and piece.islower()
            total += 0.7 * len(piece) if UNSPEAKABLE.search(piece) else 1 if whole else 1 + (len(piece) - 1) / 3
        elif piece.isdigit() and piece.isascii():
            total += math.ceil(len(piece) / 3)
        elif piece.isspace():
            total += len(piece) > 1
        else:
            total += 1 if piece.isascii() else 2
    return math.ceil(total)


def cut(text: str, room: int) -> str:
    """Return `text` within `room` tokens; a long one loses its middle, since an answer's end says as much as its
    start."""
    if cost(text) <= room:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest that fits
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(_shortened(text, middle)) <= room else (low, middle - 1)
    return _shortened(text, low)


def _shortened(text: str, most: int) -> str:
    head = (most + 1) // 2
    tail = most - head
    return f"{text[:head]} […] {text[len(text) - tail :] if tail else ''}".rstrip()
