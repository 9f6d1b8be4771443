"""Rows as the grammars of a console find them."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from ...vocabulary import detect
from ...vocabulary.guess import meant
from ..number import FURTHEST, as_number, as_step
from ..row import is_summary, of_training
from ..source import Log
from ..table import Table
from .clock import BarClock
from .line import Count

Mask = NDArray[np.bool_]
LOST = -1
ROUNDED = 0.1  # of the steps: trainers print their pace with three digits
OFTEN = 3  # rows that count by a total one after the other, after which it stands whatever was said before


class Rows:
    """The table of a console, and what its wording says about who wrote it."""

    def __init__(self) -> None:
        self.table = Table()
        self.clock = BarClock()
        self._after: BarClock | None = None  # of a training that may follow, once one has told its summary
        # Rows that the clock told the step of, LOST for one that cannot be read, and what each is.
        self._clocked, self._kinds = array("q"), array("b")
        self._trained = 0  # of them, rows of training
        self._drawn: dict[int, int] = {}  # where the bar stood, and after how many of those
        self._begins = 0  # the row with which the last training begins
        self._done: float | None = None  # steps that were taken, as the summary says
        self._keys: set[str] = set()  # of the rows that the last step has, as the clock says
        self.family: str | None = None  # proved by the wording of some row
        self.unsloth = False
        self.rollout: int | None = None  # slime: the rollout that training steps belong to
        self._stepless = False  # the last row named no step
        self._said: Count | None = None  # where the last line that names a step says it stands
        self._heard: Count | None = None  # and the last that says of how many
        self._total: int | None = None  # how many steps there are to be, as rows say
        self._counts: dict[int, tuple[int, int]] = {}  # by total: the step last said, and how often it went on
        self._beyond = self._beyond_bar = 0  # rows that name a step behind it, and behind the end of the bar
        self._by_epoch: dict[int, int] = {}  # rows that name nothing but the pass over the data, and which
        self._step_of: dict[int, int] = {}  # the step with which a pass ends, as lines say that name both
        self._headed: set[int] = set()  # rows whose step a line above them names that is no row itself
        self._named = self._fell = 0  # other rows that name a step, and how often their steps went back
        self._headings_fell = 0  # and how often those of headings did
        self._row_step = self._heading_step = 0  # the last step of either
        self._epoch = 0  # the pass over the data, if steps begin anew with each
        self._last = 0  # the step last named in it
        self._before = 0  # steps of the passes before
        self.taken = 0  # rows, for the grammar that wants to know whether it was of use
        self.lost = 0  # rows that were printed and cannot be read
        self.damaged = 0  # rows with a value that cannot be read

    def add(self, step: int | None, values: dict[str, object], *, headed: bool = False) -> None:
        """Add a row; without a step, the progress bar tells it or it is counted. `headed`: a line above it names its
        step that is no row itself."""
        if step is not None and abs(step) >= FURTHEST:
            self.lost += 1
        elif values:
            self._stepless = step is None
            if step is not None and headed:
                self._headed.add(len(self.table))
            elif step is not None:
                self._named, self._fell, self._row_step = self._named + 1, self._fell + (step < self._row_step), step
            if step is not None:
                self._reach(step)
                if self._said is not None and self._said.by_epoch and self._said.step == step:
                    self._by_epoch[len(self.table)] = step
            self.table.add(self._clock_says(values) if step is None else step, values)
            self.taken += 1
            if step is None and self.clock.refuted:
                self._count_instead()

    def head(self, step: int) -> None:
        """Take notice of a line that names a step and nothing else."""
        self._headings_fell, self._heading_step = self._headings_fell + (step < self._heading_step), step

    def _clock_says(self, values: dict[str, object]) -> int:
        """Return the step of a row that names none. A row of training after a summary is of another training; if rows
        are counted, one that shares no key with those of the last step goes on with it."""
        training = of_training(values)
        if self._after is not None and self._keys.isdisjoint(values):
            training = False  # what is printed when all is done, about the model that came of it
        if training and self._after is not None:
            self._after.counted |= self.clock.counted
            self.clock, self._after, self._keys = self._after, None, set()
            self._clocked, self._kinds = array("q"), array("b")
            self._trained, self._drawn, self._done, self._begins = 0, {}, None, len(self.table)
        if training and self.clock.counts and self._keys.isdisjoint(values):
            training = not self._keys
        self._keys = {*values} | (set() if training else self._keys)
        self._remember(len(self.table), training)
        step = self.clock.step(training=training)
        if is_summary(values):
            self._after = BarClock()
            seconds, pace = (as_number(values.get(f"train_{key}", "")) for key in ("runtime", "steps_per_second"))
            self._done = None if seconds is None or pace is None else seconds * pace
        return step

    def _count_instead(self) -> None:
        """Count the rows, since the bar counted something else."""
        self.clock = BarClock(instead_of=self.clock)
        for row, kind in zip(self._clocked, self._kinds, strict=True):
            step = self.clock.step(training=bool(kind))
            if row != LOST:
                self.table.move(row, step)

    def _remember(self, row: int, kind: int) -> None:
        self._clocked.append(row)
        self._kinds.append(kind)
        self._trained += kind

    def placed(self, count: Count) -> int:
        """Return the step that a row counts by, over all passes: if each pass counts anew, they go on."""
        if count.epoch is None:
            self._hear(count)
            return count.step
        if count.epoch > self._epoch and count.step <= self._last:
            self._before += count.total if count.total is not None else self._last + (count.step == 0)
        elif count.epoch < self._epoch:  # the program was started again
            self._before = 0
        total = count.total
        if self._before and count.total is not None and count.epochs is not None:
            total = count.total * count.epochs
        self._epoch, self._last = count.epoch, count.step
        step = self._before + count.step
        self._step_of[count.epoch] = step
        self._hear(Count(step, total))
        return step

    def _hear(self, count: Count) -> None:
        self._said = count
        self._heard = count if count.total is not None and count.total > 1 else self._heard

    def _reach(self, step: int) -> None:
        """Take notice of a row that names its step. Only such rows say how many there are to be, and lines above them
        that name the same steps again and again: others may be about anything, "1/4 of the students" among them. Of
        several totals the one that rows go on counting by."""
        if self._heard is not None and self._heard.step == step and self._heard.total is not None:
            said, itself = self._heard.total, self._heard is self._said
            last, times = self._counts.get(said, (step - 1, 0))
            times = times + (step > last) if step >= last else 1
            self._counts[said] = (step, times)
            rival = 0 if self._total is None else self._counts[self._total][1]
            if said == self._total or (times > min(rival, OFTEN) and (itself or times >= OFTEN)):
                self._total, self._beyond = said, 0
        self._beyond += self._total is not None and step > self._total
        self._beyond_bar += self.clock.total is not None and step > self.clock.total

    @property
    def total(self) -> int | None:
        """How many steps there are to be; None if rows have gone on beyond it. One may stand behind the end."""
        return self._total if self._beyond <= 1 else None

    def lose(self) -> None:
        """Count a row that cannot be read: else all that follow would be one step too early."""
        self.lost += 1
        if self._stepless:
            self._remember(LOST, True)
            self.clock.step(training=True)

    def see(self, line: str) -> bool:
        """Take notice of a progress bar; return False if the line is not one."""
        seen = self.clock.see(line)
        if self._after is not None and not self.clock.redrawn:
            self._after.see(line)
        if (stands := self.clock.stands) is not None and stands:
            self._drawn.setdefault(stands, self._trained)
        if self.clock.corrected is not None and self._stepless:
            self.table.move(len(self.table) - 1, self.clock.corrected)
        return seen

    def _pace(self, total: int | None) -> int | None:
        """Return how many steps lie between two rows of training, if bars are drawn far less often than rows, or not at
        all and the trainer says that it did all steps; None if that does not tell one number."""
        known = dict(self._drawn)
        if total is not None and self._done is not None and abs(self._done - total) < ROUNDED * total:
            known[total] = self._trained
        if not known or 2 * len(known) > self._trained:
            return None
        furthest = max(known)
        near = range(1, furthest // max(known[furthest], 1) + 2)
        fitting = [pace for pace in near if all((at - 1) // pace <= rows <= at // pace for at, rows in known.items())]
        return fitting[0] if len(fitting) == 1 else None

    def _spread(self, pace: int) -> Table:
        """Return the rows with those that name no step at their places: one every `pace` steps. What comes later may
        tell another pace, or none, so the rows themselves stay."""
        count, steps = 0, self.table.row_steps
        for row, kind in zip(self._clocked, self._kinds, strict=True):
            count += kind
            if row != LOST:
                steps[row] = pace * max(count, 1)
        return self.table.at_steps(steps)

    def _on_one_clock(self, table: Table) -> tuple[Table, Mask]:
        """Return the rows by steps alone, and which of them count, if some name a step and others only the pass over
        the data: these are at the step with which lines say that it ended. Without such lines they sum up rows that
        are there."""
        kept = np.ones(len(table), dtype=np.bool_)
        if self._named >= OFTEN and self._headings_fell > OFTEN * (self._fell + 1):
            kept[list(self._headed)] = False  # "Step 1:" in what the policy wrote heads no row
        if not self._by_epoch or (not self._step_of and 2 * len(self._by_epoch) > len(table)):
            return table, kept
        steps = table.row_steps
        for row, epoch in self._by_epoch.items():
            kept[row] = epoch in self._step_of
            steps[row] = self._step_of.get(epoch, 0)
        return table.at_steps(steps), kept

    @property
    def rewarded(self) -> bool:
        """Whether a reward is among the rows."""
        return _tells(self.table, "reward/mean")

    @property
    def scored(self) -> bool:
        """Whether a reward or a held-out one is among the rows."""
        return _tells(self.table, "reward/mean", "eval/reward/mean")

    def _of_rl(self, table: Table) -> Mask:
        """Return which rows count: not those of a supervised training that was through before the one with a reward
        began."""
        later = np.arange(len(table)) >= self._begins
        if self._begins and _tells(table.only(later), "reward/mean") and not _tells(table.only(~later), "reward/mean"):
            return later
        return np.ones(len(table), dtype=np.bool_)

    def log(self, *, torn: bool, notes: tuple[str, ...], planned: int | None = None) -> Log:
        """Return all rows. The run is to be as long as its settings say, as its bar counts, or as its rows do."""
        bar = self.clock.total if self._beyond_bar <= 1 else None
        total = planned or bar or self.total
        pace = self._pace(as_step(total))
        table, kept = self._on_one_clock(self.table if pace is None else self._spread(pace))
        rl = self._of_rl(table)
        earlier = len(table) - int(rl.sum())
        skipped = {
            f"{self.lost} printed row{'s' * (self.lost != 1)} that could not be read": self.lost,
            f"a value that could not be read in {self.damaged} printed row{'s' * (self.damaged != 1)}": self.damaged,
            f"{earlier} rows of an earlier training without a reward": earlier,
        }
        table = table if (kept & rl).all() else table.only(kept & rl)
        dialect = self.family or detect(table.keys())  # the first rows of a console may be anything
        if self.family == "trl":
            told = detect(table.keys(), family="trl")
            if told == "trl" and detect(table.keys_at_start(), family="trl") != told:
                told = "trl-grpo"  # its first rows are something else: they cannot tell it once more
            dialect = "unsloth" if self.unsloth and told in ("trl", "trl-grpo") else told
        return Log(
            table,
            settings={} if total is None else {"max_steps": total},
            dialect=dialect,
            trust="rounded",
            repeats="rewrite",
            counts_rows=self.clock.counted and pace is None,
            torn=torn,
            notes=(*notes, *(f"Skipped {what}." for what, count in skipped.items() if count)),
        )


def _tells(table: Table, *names: str) -> bool:
    """Return whether one of these series is among the columns of a table."""
    keys = table.keys()
    return not meant(keys, detect(keys)).isdisjoint(names)
