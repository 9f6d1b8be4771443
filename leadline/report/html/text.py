"""Text from a log on its way into the page: nothing invisible, nothing endless, nothing a browser could obey."""

from __future__ import annotations

import re

import orjson

from ..plain import line, name, printable

__all__ = ["embedded", "line", "lines", "name"]

OBEYED = re.compile("[<>&\x7f-\x9f\u2028\u2029]")  # what ends a script, opens a tag, or commands a terminal


def lines(text: str, most: int) -> tuple[str, int]:
    """A text that keeps its lines, and how many of its characters had to be left out in the middle."""
    left_out = max(len(text) - most, 0)
    if left_out:
        head = most * 2 // 3
        text = text[:head] + "\n\u22ee\n" + text[-(most - head) :]
    shown = "\n".join(
        "\t".join(printable(part) for part in row.split("\t")) for row in text.replace("\r\n", "\n").split("\n")
    )
    return shown, left_out


def embedded(data: object) -> str:
    """Plain data as JSON that may stand inside a script element."""
    text = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
