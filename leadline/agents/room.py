"""How much an agent pays for an answer, and answers in pages that stay below it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..errors import LeadlineError

ANSWER = 760  # tokens an answer may cost by our count, which tests hold against a real tokenizer
PIECES = re.compile(r"[A-Za-z]+|[0-9]+|[ \t]+|[\x21-\x7e]|\n|[^\x00-\x7f]|[\x00-\x08\x0b-\x1f\x7f]")
PLAIN = 7  # letters of a word that a tokenizer knows whole, most of the time
UNSPEAKABLE = re.compile(r"[^aeiouyAEIOUY]{5}|[A-Z]{5}")  # no word: a tokenizer takes it nearly letter by letter

Item = TypeVar("Item")


def cost(text: str) -> int:
    """Tokens that `text` costs, rather too many than too few: what a policy wrote need not be words.

    >>> cost("Reward has fallen."), cost("xqzvkwjpqx"), cost("3.14159")
    (5, 7, 4)
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


def page(items: Sequence[Item], cursor: str | None, room: int, size: Callable[[Item], int]) -> tuple[list[Item], str]:
    """The items from `cursor` on that fit into `room` tokens, at least one, and the cursor of the rest ("" at the
    end)."""
    start = place_of(cursor, len(items))
    shown: list[Item] = []
    for item in items[start:]:
        room -= size(item)
        if shown and room < 0:
            break
        shown.append(item)
    after = start + len(shown)
    return shown, str(after) if after < len(items) else ""


def place_of(cursor: str | None, count: int) -> int:
    if not cursor:
        return 0
    if cursor.isdecimal() and len(cursor) < 10 and int(cursor) <= count:
        return int(cursor)
    raise LeadlineError(
        "That cursor leads nowhere.",
        tried=repr(cursor[:40]),
        next_step="pass `next` of the answer before, or leave it out",
    )


def cut(text: str, room: int) -> str:
    """`text` within `room` tokens; a long one loses its middle, since an answer's end says as much as its start."""
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
