"""Rows of keys and values in one line, as verl prints them."""

from __future__ import annotations

import re

from .grammar import WRAPPED
from .rows import Rows


class Pairs:
    """`step:12 - actor/pg_loss:0.0031 - critic/score/mean:np.float64(0.42)`: key and value part at the last colon."""

    marks: tuple[bytes, ...] = (b"step:",)
    START = re.compile(r"(?<![\w/])step:(\d+) - ")
    VALUE = re.compile(rf"^({WRAPPED}|None)$")

    def take(self, line: str, rows: Rows) -> bool:
        start = self.START.search(line)
        if start is None:
            return False
        values: dict[str, object] = {}
        for pair in line[start.end() :].rstrip().split(" - "):
            key, _, value = pair.rpartition(":")
            try:
                values[key] = float(value)  # nearly all of them
            except ValueError:
                if self.VALUE.match(value.strip()):
                    values[key] = None if value.strip() == "None" else value.strip()
        values.pop("", None)
        if not values:
            return False
        rows.add(int(start[1]), values)
        return True
