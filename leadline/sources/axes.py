"""Rows of a tracker in which one key may count the steps of others.

W&B and Trackio count calls of their own; a trainer that passes no step logs its step as one more metric. Which one that
is stands in the file (`define_metric`), or is known of a few trainers.
"""

from __future__ import annotations

import math
import re

from .number import as_number, as_step
from .table import Table

OWN_STEP, OWN_TIME, OWN_RUNTIME = "_step", "_timestamp", "_runtime"
# Hugging Face and OpenRLHF, open-instruct (whose global_step counts episodes), Lightning, CleanRL.
STEP_KEYS = ("train/global_step", "training_step", "trainer/global_step", "global_step")


class AxisRows:
    """The table of such rows. The axis met first counts its rows; what others count is kept beside them, so that two
    clocks cannot look like a run that went back."""

    def __init__(self) -> None:
        self.table = Table()
        self._axis: str | None = None
        self._defined: dict[str, str] = {}  # metric to the key that counts its steps
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        self._known: dict[str, str | None] = {}
        self._last: dict[str, int] = {}  # where each axis stands

    def define(self, name: str, pattern: str, axis: str) -> None:
        """Let `axis` count the steps of the metric `name`, or of those that `pattern` with its stars matches."""
        if not axis or axis == OWN_STEP:
            return
        if name:
            self._defined[name] = axis
        if pattern:
            self._patterns.append((re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL), axis))
        self._known.clear()

    def take(self, own_step: int | None, values: dict[str, object], wall: float | None = None) -> None:
        """Take one row as logged, flattened; the tracker's own step and time may be among the values."""
        own = as_step(values.pop(OWN_STEP, "none"))
        own = own_step if own is None else own
        wall = as_number(values.pop(OWN_TIME, "none")) if wall is None else wall
        values.pop(OWN_RUNTIME, None)
        for group in [key.removesuffix("_type") for key in values if key.endswith("/_type")]:  # a table, a picture
            values = {key: value for key, value in values.items() if not key.startswith(group)}
        for axis, part in self._parts(values).items():
            step = own if axis is None else self._last[axis]
            if step is None:
                continue
            if axis == self._axis or not self.table:
                self._axis = axis
                self.table.add(step, dict(sorted(part.items())), wall)  # W&B writes the items of a row in any order
                continue
            for key, value in part.items():
                if (number := as_number(value)) is not None:
                    self.table.add_value(key, step, number, math.nan if wall is None else wall)

    def _parts(self, values: dict[str, object]) -> dict[str | None, dict[str, object]]:
        """Return the values by the key that counts them, None for the tracker itself. A row without that key stands
        where the last one stood."""
        usual = next((key for key in STEP_KEYS if key in values or key in self._last), None)
        axes = {key: self._axis_of(key) or usual for key in values}
        for axis in set(axes.values()):
            if axis is not None and (step := as_step(values.get(axis, "none"))) is not None:
                self._last[axis] = step
        parts: dict[str | None, dict[str, object]] = {}
        for key, value in values.items():
            counted = axes[key]
            parts.setdefault(counted if counted in self._last else None, {})[key] = value
        return parts

    def _axis_of(self, key: str) -> str | None:
        if key not in self._known:
            matched = next((axis for pattern, axis in self._patterns if pattern.fullmatch(key)), None)
            self._known[key] = self._defined.get(key, matched)
        return self._known[key]
