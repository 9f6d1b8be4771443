"""Text from a log on its way into the page: nothing invisible, nothing endless, nothing a browser could obey."""

from __future__ import annotations

import re
from typing import Any

import orjson

from ...digits import sure
from ..plain import line, name, printable

OBEYED = re.compile("[<>&\x7f-\x9f\u2028\u2029]")  # what ends a script, opens a tag, or commands a terminal
NAMES = ("name", "key", "kind", "signal", "process", "phrase", "unread", "group")  # entries that hold names
TEXTS = ("prompt", "output")  # and texts of several lines


def safe(data: Any, entry: str = "") -> Any:
    """Return plain data as the page may show it: its texts by the entry that holds them, a probability with its words
    beside it. Keys stay as they are: those that a log names are made safe where they are made."""
    if isinstance(data, str):
        return name(data) if entry in NAMES else shown(data) if entry in TEXTS else line(data)
    if isinstance(data, (list, tuple)):
        return [safe(one, entry) if isinstance(one, (str, list, tuple, dict)) else one for one in data]
    if isinstance(data, dict):
        p = data.get("p")
        words = {"sure": sure(p)} if isinstance(p, float) else {}
        return {key: safe(one, key) for key, one in data.items()} | words
    return data


def shown(text: str) -> str:
    """Return a text of several lines, with every character that could be obeyed written as its escape."""
    return "\n".join("\t".join(map(printable, row.split("\t"))) for row in text.split("\n"))


def cut(text: str, most: int) -> tuple[str, int]:
    """Return a text without its middle if it is too long, and how many characters were left out."""
    left_out = max(len(text) - most, 0)
    if left_out:
        head = most * 2 // 3
        text = text[:head] + "\n\u22ee\n" + text[-(most - head) :]
    return text.replace("\r\n", "\n"), left_out


def embedded(data: object) -> str:
    """Plain data as JSON that may stand inside a script element."""
    text = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
