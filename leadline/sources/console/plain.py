"""A line of a console without what terminals and launchers put around it."""

from __future__ import annotations

import re

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
RAY = re.compile(r"^\s*\([\w.:\- ]+? pid=\d+(?:, ip=[^)]*)?\)\s?(?:\[repeated[^\]]*\]\s?)?")
RANK = re.compile(r"^\s*(?:\[rank\d+\]:|\[default\d+\]:|\d+: (?=\S))\s?")


def plain(line: bytes) -> str:
    """The text of a line: colours, Ray's and torchrun's prefixes gone.

    >>> plain(b"\\x1b[36m(TaskRunner pid=12, ip=10.0.0.1)\\x1b[0m step:1 - a:2")
    'step:1 - a:2'
    """
    text = line.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if " pid=" in text:
        text = RAY.sub("", text)
    return RANK.sub("", text) if text[:1] in "[0123456789" else text
