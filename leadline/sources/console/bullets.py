"""Rows as lists of bullets, as NeMo RL prints them."""

from __future__ import annotations

import re

from .grammar import NUMBER
from .rows import Rows


class Bullets:
    """NeMo RL: `Step 12/1000` between rules, then `• Avg Reward: 0.41` and a block of timings."""

    marks: tuple[bytes, ...] = ("•".encode(), b"= Step ", b"Timing", b"Total step time")
    HEADER = re.compile(r"=\s*Step (\d+)/\d+\s*=")
    BULLET = re.compile(rf"•\s*(?P<key>[^:]+?):\s*(?P<value>{NUMBER})(?P<seconds>s)?(?:\s|$|\()")
    TOTAL = re.compile(rf"(Total step time):\s*({NUMBER})s")

    def __init__(self) -> None:
        self._step: int | None = None

    def take(self, line: str, rows: Rows) -> bool:
        if header := self.HEADER.search(line):
            self._step = int(header[1])
            return False
        if self._step is None:
            return False
        if total := self.TOTAL.search(line):
            rows.add(self._step, {f"console timing/{total[1]}": total[2]})
            return True
        bullet = self.BULLET.search(line)
        if bullet is None:
            return False
        key = f"console timing/{bullet['key']}" if bullet["seconds"] else bullet["key"]
        rows.family = "nemo_rl"
        rows.add(self._step, {key: bullet["value"]})
        return True
