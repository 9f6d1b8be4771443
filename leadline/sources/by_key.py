"""Columns of a carrier that stores each key by itself, and the table they make."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .table import Table


class ByKey:
    """A column for every key, in written order."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[array[int], array[float], array[float]]] = {}

    def __bool__(self) -> bool:
        return bool(self._columns)

    def __len__(self) -> int:
        """How many values there are."""
        return sum(len(steps) for steps, _, _ in self._columns.values())

    def add(self, key: str, step: int, value: float, wall: float) -> None:
        steps, values, walls = self._column(key)
        steps.append(step)
        values.append(value)
        walls.append(wall)

    def extend(
        self, key: str, steps: NDArray[np.int64], values: NDArray[np.float64], walls: NDArray[np.float64]
    ) -> None:
        column = self._column(key)
        column[0].frombytes(steps.tobytes())
        column[1].frombytes(values.tobytes())
        column[2].frombytes(walls.tobytes())

    def take(self) -> list[tuple[str, array[int], array[float], array[float]]]:
        """All columns, which are then forgotten."""
        columns, self._columns = self._columns, {}
        return [(key, *column) for key, column in columns.items()]

    def _column(self, key: str) -> tuple[array[int], array[float], array[float]]:
        if key not in self._columns:
            self._columns[key] = (array("q"), array("d"), array("d"))
        return self._columns[key]

    @staticmethod
    def table(attempts: Iterable[ByKey]) -> Table:
        """The table of one or several attempts, the later one after the earlier.

        Keys may count different things (an evaluation its own rounds), so only one key with itself can show that the
        run went back: the one written most often tells the order of the rows.
        """
        whole = ByKey()
        for attempt in attempts:
            for key, (steps, values, walls) in attempt._columns.items():
                column = whole._column(key)
                column[0].extend(steps)
                column[1].extend(values)
                column[2].extend(walls)
        table = Table()
        for key, (steps, values, walls) in whole._columns.items():
            table.add_column(key, steps, values, walls)
        if whole:
            table.add_rows(max(whole._columns.values(), key=lambda column: len(column[0]))[0])
        return table
