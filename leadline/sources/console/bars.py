"""Rows behind a progress bar: the numbers that a loop hangs onto it."""

from __future__ import annotations

import re

from .grammar import has_metric
from .pieces import Count, pieces
from .rows import Rows

BAR = re.compile(r"\|\s*(?P<step>\d+)/(?P<total>\d+)\s*\[[^\[\]]*?(?:it/s|s/it)(?P<tail>,[^\]]*)\]")


class Bars:
    """`Training: 10%|█ | 12/240 [00:10<01:30, 1.2it/s, reward=0.4, loss=0.1]`. A bar is drawn many times and may count
    anything, so these rows are kept apart (`counted`), for a log that has no others."""

    marks: tuple[bytes, ...] = (b"it/s,", b"s/it,")

    def __init__(self) -> None:
        self.counted = Rows()

    def take(self, line: str, rows: Rows) -> bool:
        bar = BAR.search(line)
        if bar is None or len(bar["step"]) > 15 or len(bar["total"]) > 15:
            return False
        values: dict[str, object] = {
            one.label: one.values[0] for one in pieces(bar["tail"]) if one.label and one.joined
        }
        if has_metric(values):
            self.counted.add(self.counted.placed(Count(int(bar["step"]), int(bar["total"]))), values)
        return False
