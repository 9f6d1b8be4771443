"""Which step a row belongs to if it does not say: from the progress bar around it, or by counting rows."""

from __future__ import annotations

import re
from collections import deque

# The bar of a trainer has no description before its percentage but that it is of the training, as those of loaders and
# evaluations mostly have.
BAR = re.compile(r"^\s*(?:Training(?: Progress)?: *)?\d+%(?:\|[^|]*\|)?\s*(\d{1,15})/(\d{1,15}) \[")
TOTAL = re.compile(r"Total optimization steps = ([\d,]{1,15})(?![\d,])")


class BarClock:
    """A tqdm bar. To print a row, tqdm wipes the bar, writes the row, and draws the bar again as it stands now: if
    steps are fast, that is the first time it is drawn at all. So a row is given the step it most likely has, and
    the next bar corrects it. If rows come later than their bars, since only one stream was buffered, the bars that
    were drawn twice count. A bar that is full before the first row of training counts something else, and so does
    one that more rows have gone beyond than not."""

    def __init__(self, instead_of: BarClock | None = None) -> None:
        self.total: int | None = None
        self.redrawn = False  # the last line was a bar drawn once more as it stood
        self.refuted = False  # more rows lie beyond the end of the bar than before it
        # The length of a bar that is known to count something else; once two did, none is listened to.
        self._deaf_to = None if instead_of is None else instead_of.total
        self._deaf = instead_of is not None and instead_of._deaf_to is not None
        self._announced = False  # its length was told in words
        self._within = self._beyond = 0  # rows of training before the end of the bar, and beyond it
        self.counted = False  # some row could only be counted
        self.corrected: int | None = None  # what a bar says of the row before it, if that was taken for another step
        self._bar: int | None = None  # where the bar stands; None: there is none
        self._again: deque[int] = deque()  # bars drawn again whose row has not come yet
        self._owed = 0  # rows whose bar has not been drawn again yet
        self._redraws = False  # a bar follows every row, and is that row's
        self._late = False  # rows come later than their bars
        self._trained = False  # a row of training has come
        self._last = self._before = 0  # the last row of training, and the one before it
        self._given: int | None = None  # the step of the row that stands since the last bar
        self._sure = False  # that step is where the bar stood and a row was due

    def see(self, line: str) -> bool:
        """Take notice of a bar; return False if the line is not one."""
        self.corrected, self.redrawn = None, False
        if total := TOTAL.search(line):
            self.total, self._announced = int(total[1].replace(",", "")), True
            return True
        bar = BAR.match(line)
        if bar is None:
            return False
        count, total_steps = int(bar[1]), int(bar[2])
        other = total_steps not in (self.total, self._deaf_to) and not self._deaf
        if other and total_steps > 1 and count < total_steps and (self._is_free or (count == 0 and not self._waits)):
            self.total, self._bar = total_steps, None
        if total_steps == self.total and not self._deaf and not (self._bar is None and count == total_steps):
            self._stands_at(count)
        return line.rstrip().endswith("]")  # else a row may stand behind it

    @property
    def _is_free(self) -> bool:
        """Whether a bar of another length may be the one to follow: there is none, or it is full and had no row."""
        return self.total is None or (not self._waits and self._bar is not None and self._bar >= self.total)

    @property
    def _waits(self) -> bool:
        """Whether the bar is known to be that of the training: a row came, or is to come, or words told its length."""
        return self._trained or bool(self._again) or self._announced

    def _stands_at(self, count: int) -> None:
        stood, self._bar = self._bar, count
        self.redrawn = count == stood
        given, self._given = self._given, None
        if stood is not None and count < stood:  # the program was started again: nothing of the first is to come
            self._again.clear()
            self._owed, self._late = 0, False
            self._last = self._before = min(self._last, count)
            return
        if count == stood:
            if self._owed:
                self._owed -= 1
                self._redraws = True
            elif count:
                self._again.append(count)
        else:
            self._owed = 0
            self._redraws |= given is not None and stood == 0  # no row of training is of step 0
        if given is not None and given != count and self._redraws and (count == stood or not self._sure):
            self.corrected = count
            self._last = count if given == self._last else self._last

    @property
    def stands(self) -> int | None:
        """Where the bar stands; None if there is none."""
        return self._bar

    @property
    def counts(self) -> bool:
        """Whether there is no bar to tell the next step."""
        return self._bar is None and not self._again

    def step(self, *, training: bool) -> int:
        """Return the step of the row that stands here: of training, or about it (an evaluation, a summary)."""
        cadence = max(self._last - self._before, 1)
        if self._again:
            self._late = True
            step = self._again.popleft()
        elif self._bar is None or self._late:
            self.counted = self.counted or self._last == 0
            step = self._last + (cadence if training or not self._trained else 0)
            self._owed += step == self._bar  # the row whose writing let out all that were held back
        else:
            self._owed += 1
            # A second row of training under one bar is of a later step, whose bar was not drawn.
            step = self._last + cadence if training and self._bar <= self._last else self._bar
            self._given = step
            self._sure = step == self._bar == self._last + (cadence if training else 0)
        if training and self._bar is not None and self.total is not None:
            self._within, self._beyond = self._within + (step <= self.total), self._beyond + (step > self.total)
            self.refuted = self._beyond > self._within
        if training or not self._trained:
            self._before, self._last = self._last, step
            self._trained |= training
        return step
