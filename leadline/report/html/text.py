"""Text from a log on its way into the page: nothing invisible, nothing endless, nothing a browser could obey."""

from __future__ import annotations

import re

import orjson

from ..plain import line, name, printable

__all__ = ["cut", "embedded", "line", "name", "shown"]

OBEYED = re.compile("[<>&\x7f-\x9f\u2028\u2029]")  # what ends a script, opens a tag, or commands a terminal


def shown(text: str) -> str:
    """Return a text of several lines, with every character that could be obeyed written as its escape."""
    return "\n".join("\t".join(map(printable, row.split("\t"))) for row in text.split("\n"))


def cut(text: str, most: int) -> tuple[str, int]:
    """Return the same for a text that may be too long, and how many characters were left out in the middle."""
    left_out = max(len(text) - most, 0)
    if left_out:
        head = most * 2 // 3
        text = text[:head] + "\n\u22ee\n" + text[-(most - head) :]
    return shown(text.replace("\r\n", "\n")), left_out


def embedded(data: object) -> str:
    """Plain data as JSON that may stand inside a script element."""
    text = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
