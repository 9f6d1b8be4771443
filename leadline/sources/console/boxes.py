"""Rows as tables drawn with lines."""

from __future__ import annotations

import re

from ..number import as_number, as_step
from ..row import step_key
from .grammar import NUMBER, has_metric
from .pieces import counted, pieces
from .rows import Rows

HEADING = 120  # characters of a line that names the step of the table below it
MOST = 5000  # values of one table
OFTEN = 3  # times that a table without a step has to come for its like to be rows
NOT_THE_STEPS = ("time/total_timesteps", "training_step")  # kept as series too


class Boxes:
    """Tables drawn with lines: stable-baselines3 (`| rollout/ |`, `|  ep_rew_mean | 21.3 |`), AReaL (several keys and
    values a line), open-instruct's panel (`│ loss  policy_avg: 0.01 | kl_avg: 0.0 │`) and Markdown, where a table is a
    step (`| reward | 0.4 |`) or a row is (`| step | reward |` at its head)."""

    marks: tuple[bytes, ...] = (
        b"|\n",
        b"|\x1b",  # before the code that ends a colour
        b"---\n",
        *(side.encode() for side in "│╯╛┘"),
        b" done.",
        b"tep ",
        b"teration ",
        b"pdate ",
    )
    EDGE = re.compile(r"^\s*(?:-{5,}|[╰└╘╭┌╒+][─═+\-┴┬╧╤\s]*[╯┘╛╮┐╕+]|[╭┌╒].*[╮┐╕])\s*$")
    RULE = re.compile(r"^\|(?:\s*:?-{2,}:?\s*\|)+$")  # below the head of a Markdown table
    PANEL = re.compile(rf"(?P<key>[\w@./-]+): (?P<value>{NUMBER})(?=\s*(?:\||$))")

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self._section = ""
        self._step: int | None = None  # named before the table
        self._category = ""
        self._head: list[str] = []  # the cells of the line before
        self._columns: list[str] = []  # of a table in which a row is a step
        self._whole: frozenset[str] = frozenset()  # the keys of the last table: one that has them all is complete
        self._waiting: list[dict[str, object]] = []  # tables of the same keys that name no step
        self._counted: frozenset[str] = frozenset()  # the keys of such tables, once they are rows

    def take(self, line: str, rows: Rows) -> bool:
        text = line.strip()
        if self.EDGE.match(text):
            return self._flush(rows)
        if "│" in text and text.endswith("│"):
            text = text[text.index("│") :]  # whatever a collector put before it
        side = text[:1]
        if side not in "|│" or not text.endswith(side) or len(text) < 3:
            if len(text) <= HEADING and (count := counted(pieces(text))) is not None:
                self._flush(rows)
                self._columns, self._step = [], rows.placed(count)
            return False
        if self.RULE.match(text):
            self._flush(rows)
            self._columns = self._head if self._head and not any(map(_is_number, self._head)) else []
            return True
        cells = [cell.strip().strip("*`") for cell in text[1:-1].split(side)]
        self._head = cells
        if self._columns and len(cells) == len(self._columns) and _is_number(cells[0]):
            return self._row(cells, rows)
        if side == "│" and len(cells) == 1:
            return self._panel(text[1:-1])
        if len(cells) % 2:
            return False
        filed = False
        for name, value in zip(cells[::2], cells[1::2], strict=True):
            if name.endswith("/") and not value:
                self._section = name
            elif (number := as_number(value)) is not None and value:
                inside = name if "/" in name else f"{self._section}{name}"
                self._values[inside] = number
                filed = True
        if len(self._values) > MOST:
            self._values = {}
        if self._columns and self._whole and self._values.keys() == self._whole:
            return self._flush(rows)  # a Markdown table has no lower edge
        return filed

    def _row(self, cells: list[str], rows: Rows) -> bool:
        """One line of a table whose head names its columns."""
        values: dict[str, object] = {
            name: number
            for name, cell in zip(self._columns, cells, strict=True)
            if cell and (number := as_number(cell)) is not None
        }
        key = step_key([values])
        step = as_step(values.pop(key)) if key is not None else None
        if not values or (step is None and self._step is None):
            return False
        rows.add(self._step if step is None else step, values)
        return True

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

    def _flush(self, rows: Rows) -> bool:
        values, self._values, self._section = self._values, {}, ""
        step = self._step
        if len(values) < 2:
            return False
        self._step = None
        whole = frozenset(values)
        key = step_key([values])
        found = step if step is not None else (as_step(values[key]) if key is not None else None)
        if found is None:
            return self._count(values, rows)
        if key is not None and key not in NOT_THE_STEPS:
            values.pop(key)
        self._whole = whole
        rows.add(found, values)
        return True

    def _count(self, values: dict[str, object], rows: Rows) -> bool:
        """A table that names no step. One of its kind may be a summary; those that come again are rows."""
        if not has_metric(values):
            return False
        if self._counted == values.keys():
            rows.add(None, values)
            return True
        if self._waiting and self._waiting[-1].keys() != values.keys():
            self._waiting = []
        self._waiting.append(values)
        if len(self._waiting) < OFTEN:
            return False
        for table in self._waiting:
            rows.add(None, table)
        self._waiting, self._counted = [], frozenset(values)
        return True


def _is_number(cell: str) -> bool:
    return bool(cell) and as_number(cell) is not None
