"""Which step a row belongs to, when the row does not say: from the progress bar around it, or by counting rows."""

from __future__ import annotations

import re
from collections import deque

# The bar of a trainer has no description before its percentage, as those of loaders and evaluations mostly have.
BAR = re.compile(r"^\s*\d+%\|[^|]*\|\s*(\d+)/(\d+) \[")
TOTAL = re.compile(r"Total optimization steps = ([\d,]+)")


class BarClock:
    """Follows a tqdm bar. To print a row, tqdm wipes the bar, writes the row and draws the same bar again. Where rows
    come later than their bars, since only one stream was buffered, the bars that were drawn twice count."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.counted = False  # some row could only be counted
        self._bar = 0  # where the bar stands
        self._again: deque[int] = deque()  # bars drawn again whose row has not come yet
        self._owed = 0  # rows that came before their bar was drawn again
        self._late = False  # rows come later than their bars
        self._last = 0

    def see(self, line: str) -> bool:
        """Take notice of a bar; False when the line is none."""
        if total := TOTAL.search(line):
            self.total = int(total[1].replace(",", ""))
            return True
        bar = BAR.match(line)
        if bar is None:
            return False
        count, total_steps = int(bar[1]), int(bar[2])
        if self.total is None and total_steps > 1:
            self.total = total_steps
        if total_steps == self.total:
            if count != self._bar:
                self._bar, self._owed = count, 0
            elif self._owed:
                self._owed -= 1
            elif count:
                self._again.append(count)
        return line.rstrip().endswith("]")  # else a row may stand behind it

    def step(self) -> int:
        """The step of the row that stands here."""
        if self._again:
            self._late = True
            self._last = self._again.popleft()
        elif self._bar and not self._late:
            self._owed += 1
            self._last = self._bar
        else:
            self.counted = self.counted or self._last == 0
            self._last += 1
        return self._last
