"""Rows below a line that names their columns, with nothing but spaces between."""

from __future__ import annotations

import re

from ..number import as_number, as_step
from ..row import step_key
from .grammar import has_metric
from .rows import Rows

GAPS = re.compile(r"\t+|\s{2,}|\s*\|\s*")
WIDEST = 100


class Columns:
    """`step   reward   loss`, and below it `12   0.41   0.003`: as tables look that were printed or pasted."""

    marks: tuple[bytes, ...] = (b"tep ", b"tep\t", b"ter ", b"teration", b"pisode ", b"poch ", b"pdate ")

    def __init__(self) -> None:
        self._names: list[str] = []

    @property
    def is_open(self) -> bool:
        return bool(self._names)

    def take(self, line: str, rows: Rows) -> bool:
        cells = _cells(line)
        if self._names and len(cells) != len(self._names) and len(words := line.split()) == len(self._names):
            cells = words  # a sign may leave but one space between two numbers
        if len(cells) < 2 or len(cells) > WIDEST:
            return False
        numbers = [as_number(cell) for cell in cells]
        if self._names and len(cells) == len(self._names) and None not in numbers:
            values: dict[str, object] = dict(zip(self._names, numbers, strict=True))
            step = as_step(values.pop(step_key([values]) or "", ""))
            if step is None or not values:
                return False
            rows.add(step, values)
            return True
        if any(number is not None for number in numbers) or any(mark in line for mark in ":={}"):
            return False
        named: dict[str, object] = dict.fromkeys(cells, 1)
        if len(named) == len(cells) and has_metric(named) and step_key([named]) is not None:
            self._names = cells
        return False


def _cells(line: str) -> list[str]:
    text = line.strip().strip("|#").strip()
    cells = [cell for cell in GAPS.split(text) if cell]
    return cells if len(cells) > 1 else text.split()
