"""How much an agent pays for an answer, and answers in pages that stay below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ..errors import LeadlineError

ANSWER = 760  # tokens an answer may cost by our count, which tests hold against a real tokenizer

Item = TypeVar("Item")


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
