"""Rows as tables drawn with lines."""

from __future__ import annotations

import re

from ..number import as_number, as_step
from ..row import step_key
from .grammar import NUMBER
from .rows import Rows


class Boxes:
    """Tables drawn with lines: stable-baselines3 (`| rollout/ |`, `|  ep_rew_mean | 21.3 |`), AReaL (several keys and
    values a line), and open-instruct's panel (`│ loss  policy_avg: 0.01 | kl_avg: 0.0 │`)."""

    marks: tuple[bytes, ...] = (
        b"|\n",
        "│\n".encode(),
        b"---\n",
        "╯\n".encode(),
        "╛\n".encode(),
        "┘\n".encode(),
        b" done.",
    )
    EDGE = re.compile(r"^\s*(?:-{5,}|[╰└╘╭┌╒+][─═+\-┴┬╧╤\s]*[╯┘╛╮┐╕+]|[╭┌╒].*[╮┐╕])\s*$")
    DONE = re.compile(r"Train step (\d+)/\d+ done\.")
    PANEL = re.compile(rf"(?P<key>[\w@./-]+): (?P<value>{NUMBER})(?=\s*(?:\||$))")
    CATEGORY = re.compile(r"^\s*(\w[\w-]*)\s+\S")

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self._section = ""
        self._step: int | None = None  # AReaL names it before the table
        self._category = ""

    def take(self, line: str, rows: Rows) -> bool:
        if done := self.DONE.search(line):
            self._step = int(done[1])
            return False
        text = line.strip()
        if self.EDGE.match(text):
            return self._flush(rows)
        side = text[:1]
        if side not in "|│" or not text.endswith(side) or len(text) < 3:
            return False
        cells = [cell.strip() for cell in text[1:-1].split(side)]
        if side == "│" and len(cells) == 1:
            return self._panel(text[1:-1])
        if len(cells) % 2:
            return False
        for name, value in zip(cells[::2], cells[1::2], strict=True):
            if name.endswith("/") and not value:
                self._section = name
            elif (number := as_number(value)) is not None and value:
                inside = name if "/" in name else f"{self._section}{name}"
                self._values[inside] = number
        if len(self._values) > 5000:
            self._values = {}
        return False

    def _panel(self, text: str) -> bool:
        pairs = list(self.PANEL.finditer(text))
        if not pairs:
            return False
        head = text[: pairs[0].start()].strip()
        self._category = head if head else self._category
        prefix = "" if self._category == "other" else f"{self._category}/"
        for pair in pairs:
            self._values[f"{prefix}{pair['key']}"] = pair["value"]
        return False

    def _flush(self, rows: Rows) -> bool:
        values, self._values, self._section = self._values, {}, ""
        step, self._step = self._step, None
        if len(values) < 2:
            if step is not None and not values:
                self._step = step  # the upper edge of its table
            return False
        key = step_key([values])
        found = step if step is not None else (as_step(values[key]) if key is not None else None)
        if found is None:
            return False
        if key is not None and key not in ("time/total_timesteps", "training_step"):
            values.pop(key)
        rows.add(found, values)
        return True
