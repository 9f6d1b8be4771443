"""Rows as tables: drawn with lines, in Markdown, or with nothing but spaces between their columns."""

from __future__ import annotations

import re

from ..clock import step_key
from ..number import as_number, as_step
from .line import NUMBER, counted, has_metric
from .rows import Rows
from .words import LONG, Recurring

MOST = 5000  # values of one table
WIDEST = 100  # columns
KEPT = ("time/total_timesteps", "training_step")  # steps that are metrics too


class Boxes:
    """Tables drawn with lines: stable-baselines3 (`| rollout/ |`, `|  ep_rew_mean | 21.3 |`), AReaL (several keys and
    values a line), open-instruct's panel (`│ loss  policy_avg: 0.01 | kl_avg: 0.0 │`) and Markdown, where a table is a
    step (`| reward | 0.4 |`) or a row is (`| step | reward |` at its head)."""

    marks: tuple[bytes, ...] = (
        b"|\n",
        b"|\x1b",  # before the code that ends a color
        b"---\n",
        b"-+\n",
        b"=+\n",
        *(side.encode() for side in "│╯╛┘"),
        b" done.",
        b"tep ",
        b"teration ",
        b"pdate ",
    )
    EDGE = re.compile(r"^\s*(?:-{5,}|[╰└╘╭┌╒+][─═+\-┴┬╧╤\s]*[╯┘╛╮┐╕+]|[╭┌╒].*[╮┐╕])\s*$")
    RULE = re.compile(r"^(?:\|(?:\s*:?-{2,}:?\s*\|)+|\+(?:[-=]{2,}\+)+)$")  # below the head of a table, or each row
    PANEL = re.compile(rf"(?P<key>[\w@./-]+): (?P<value>{NUMBER})(?=\s*(?:\||$))")

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self._section = ""
        self._step: int | None = None  # named before the table
        self._category = ""
        self._head: list[str] = []  # the cells of the line before
        self._columns: list[str] = []  # of a table in which a row is a step
        self._whole: frozenset[str] = frozenset()  # the keys of the last table: one that has them all is complete
        self._stepless = Recurring()

    def take(self, line: str, rows: Rows) -> bool:
        text = line.strip()
        if self.RULE.match(text):
            if self._head and all(as_number(cell) is None for cell in self._head):
                self._flush(rows)
                self._columns = self._head
            self._head = []
            return True
        if self.EDGE.match(text):
            return self._flush(rows)
        if "│" in text and text.endswith("│"):
            text = text[text.index("│") :]  # whatever a collector put before it
        side = text[:1]
        if side not in "|│" or not text.endswith(side) or len(text) < 3:
            if len(text) <= LONG and (count := counted(text)) is not None and not count.weak:
                self._flush(rows)
                self._columns, self._step = [], rows.placed(count)
            return False
        cells = [cell.strip().strip("*`") for cell in text[1:-1].split(side)]
        self._head = cells
        if len(cells) == len(self._columns) and as_number(cells[0]) is not None:
            return _add_row(self._columns, cells, rows, self._step)
        if side == "│" and len(cells) == 1:
            return self._panel(text[1:-1])
        if len(cells) % 2:
            return False
        filed = False
        for name, value in zip(cells[::2], cells[1::2], strict=True):
            if name.endswith("/") and not value:
                self._section = name
            elif (number := as_number(value)) is not None and value:
                self._values[name if "/" in name else f"{self._section}{name}"] = number
                filed = True
        if len(self._values) > MOST:
            self._values = {}
        if self._columns and self._whole and self._values.keys() == self._whole:
            return self._flush(rows)  # a Markdown table has no lower edge
        return filed

    def _panel(self, text: str) -> bool:
        pairs = list(self.PANEL.finditer(text))
        if not pairs:
            return False
        head = text[: pairs[0].start()].strip()
        self._category = head if head else self._category
        prefix = "" if self._category == "other" else f"{self._category}/"
        for pair in pairs:
            self._values[f"{prefix}{pair['key']}"] = pair["value"]
        return True  # a line of a box is nobody else's, closed or not

    def finish(self, rows: Rows) -> None:
        """File the last table if it has all keys of the one before it, below a heading that names its step."""
        if self._step is not None and self._whole and self._values.keys() == self._whole:
            step = self._step
            self._flush(rows)
            self._step = step

    def _flush(self, rows: Rows) -> bool:
        """File the table that has ended. Tables that name no step are rows if their like comes again."""
        values, self._values, self._section = self._values, {}, ""
        if len(values) < 2:
            return False
        step, self._step, whole = self._step, None, frozenset(values)
        key = step_key([values])
        if key is not None:
            step = as_step(values[key]) if step is None else step
        if step is None:
            found = self._stepless.take(tuple(values), values) if has_metric(values) else []
            for table in found:
                rows.add(None, table)
            return bool(found)
        if key is not None and key not in KEPT:
            values.pop(key)
        self._whole = whole
        rows.add(step, values)
        return True


class Columns:
    """`step   reward   loss`, and below it `12   0.41   0.003`: as tables look that were printed or pasted."""

    marks: tuple[bytes, ...] = (b"tep ", b"tep\t", b"ter ", b"teration", b"pisode ", b"poch ", b"pdate ")
    GAPS = re.compile(r"\t+|\s{2,}|\s*\|\s*")

    def __init__(self) -> None:
        self._names: list[str] = []

    @property
    def is_open(self) -> bool:
        return bool(self._names)

    def take(self, line: str, rows: Rows) -> bool:
        text = line.strip().strip("|#").strip()
        cells = [cell for cell in self.GAPS.split(text) if cell]
        # A sign may leave but one space between two numbers.
        if len(cells) < 2 or (self._names and len(cells) != len(self._names) == len(line.split())):
            cells = text.split()
        if not 2 <= len(cells) <= WIDEST:
            return False
        if len(cells) == len(self._names) and None not in map(as_number, cells):
            return _add_row(self._names, cells, rows, None)
        if any(mark in line for mark in ":={}") or any(as_number(cell) is not None for cell in cells):
            return False
        named: dict[str, object] = dict.fromkeys(cells, 1)
        if len(named) == len(cells) and has_metric(named) and step_key([named]) is not None:
            self._names = cells
        return False


def _add_row(names: list[str], cells: list[str], rows: Rows, above: int | None) -> bool:
    """Take one line of a table whose head names its columns; `above`: the step that a heading named."""
    values: dict[str, object] = {
        name: number
        for name, cell in zip(names, cells, strict=True)
        if cell and (number := as_number(cell)) is not None
    }
    key = step_key([values])
    step = as_step(values.pop(key)) if key is not None else None
    step = above if step is None else step
    if not values or step is None:
        return False
    rows.add(step, values)
    return True
