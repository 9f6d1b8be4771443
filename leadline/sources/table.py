"""What a log holds, as columns: rows come in as they were written, arrays come out.

Rows that hold the same keys in the same order share one block of plain floats, so a row costs a few bytes a value and
no Python object. Most logs have two or three such blocks.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..records import dataclass, field
from ..run import Steps, Values
from ..vocabulary.names import listed, words
from .clock import STAMP
from .number import as_number, as_step, flat, mean_of

Rows = NDArray[np.int64]
LONGEST_NAME = 200  # characters of what a run is called
MOST_APART = 0.9  # of the rows
LONGEST_ID, OF_IDS = 64, 256  # characters of what tells one row from all others; rows in which it has to
REWARDS = re.compile(r"reward|score|return", re.IGNORECASE)  # lists of these are logged one value a sample
# What a column is called that says which of several runs a row is of.
OF_RUNS = {*listed("of runs")}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """All values of one native key, in written order: steps may repeat and go back."""

    steps: Steps
    values: Values
    walls: Values  # seconds since the epoch, NaN where the log does not say
    rows: Rows | None = None  # which row each stood in; None for a column that came without rows


@dataclass(slots=True)
class _Block:
    """Rows with the same keys."""

    keys: tuple[str, ...]
    values: array[float] = field(default_factory=lambda: array("d"))  # row after row
    steps: array[int] = field(default_factory=lambda: array("q"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    walls: array[float] = field(default_factory=lambda: array("d"))


class Table:
    """Columns that grow: `add` takes a row, `add_value` and `add_column` serve carriers that keep each key apart."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, ...], _Block] = {}
        self.apart: dict[str, tuple[array[int], array[float], array[float]]] = {}  # what came without rows, by key
        self._row_steps: array[int] = array("q")
        self._words: dict[str, array[int]] = {}  # rows in which a key held something else than a number
        self.nulls: dict[str, array[int]] = {}  # rows in which it held none, as null
        self._names: dict[str, dict[int, str]] = {}  # of runs, by key and row
        self._said: list[dict[str, str]] = []  # the words of the first rows that hold any, and which run each is of

    def __len__(self) -> int:
        """Return how many rows were written."""
        return len(self._row_steps) or max((len(steps) for steps, _, _ in self.apart.values()), default=0)

    def __bool__(self) -> bool:
        """Return whether anything was logged at all."""
        return bool(self._row_steps) or bool(self.apart)

    def add(self, step: int, values: Mapping[str, object], wall: float | None = None) -> None:
        """Add one row. Values that are numbers in some clothing become floats, nested ones get their path as key; what
        is no number is remembered as a word."""
        keys = tuple(values)
        block = self._blocks.get(keys)
        if block is None:
            # A row with a word in it is filed under its numbers; only what came whole opens a block here.
            if any(as_number(value) is None for value in values.values()):
                self._add_mixed(step, values, wall)
                return
            block = self._blocks[keys] = _Block(keys)
        end = len(block.values)
        try:
            block.values.extend(values.values())  # type: ignore[arg-type]  # what is no number raises
        except (TypeError, OverflowError):
            del block.values[end:]
            numbers = [as_number(value) for value in values.values()]
            if None in numbers:
                self._add_mixed(step, values, wall)
                return
            block.values.extend(number for number in numbers if number is not None)
            for key, value in values.items():
                if value is None:
                    self.nulls.setdefault(key, array("q")).append(len(self._row_steps))
        block.steps.append(step)
        block.rows.append(len(self._row_steps))
        block.walls.append(math.nan if wall is None else wall)
        self._row_steps.append(step)

    def move(self, row: int, step: int) -> None:
        """Move a row to another step: only what follows it could tell."""
        if row < 0:
            return
        self._row_steps[row] = step
        for block in self._blocks.values():
            place = bisect_left(block.rows, row)
            if place < len(block.rows) and block.rows[place] == row:
                block.steps[place] = step

    def _add_mixed(self, step: int, values: Mapping[str, object], wall: float | None) -> None:
        """Add a row that holds words beside its numbers."""
        numbers: dict[str, object] = {}
        said: dict[str, str] = {}
        for key, value in flat(values):
            number = as_number(value)
            if len(self._row_steps) < OF_IDS and (number is None or _tells_runs(key)):
                said[key] = str(value)[: LONGEST_ID + 1]
            if number is None:
                number = mean_of(value) if REWARDS.search(key) else None
            if number is None:
                self._words.setdefault(key, array("q")).append(len(self._row_steps))
                if isinstance(value, str) and len(value) <= LONGEST_NAME and _tells_runs(key):
                    self._names.setdefault(key, {})[len(self._row_steps)] = value
            else:
                numbers[key] = None if value is None else number
        self._said += [said] * bool(said)
        self.add(step, numbers, wall)

    def add_value(self, key: str, step: int, value: float, wall: float = math.nan) -> None:
        """Add one value of a carrier that stores each key by itself."""
        steps, values, walls = self._own(key)
        steps.append(step)
        values.append(value)
        walls.append(wall)

    def add_column(self, key: str, steps: ArrayLike, values: ArrayLike, walls: ArrayLike | None = None) -> None:
        """Add a column, or its continuation, of such a carrier."""
        written, numbers = np.asarray(steps, dtype=np.int64), np.asarray(values, dtype=np.float64)
        times = np.full(len(written), np.nan) if walls is None else np.asarray(walls, dtype=np.float64)
        own = self._own(key)
        own[0].frombytes(written.tobytes())
        own[1].frombytes(numbers.tobytes())
        own[2].frombytes(times.tobytes())

    def _own(self, key: str) -> tuple[array[int], array[float], array[float]]:
        if key not in self.apart:
            self.apart[key] = (array("q"), array("d"), array("d"))
        return self.apart[key]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        apart = sum(len(steps) for steps, _, _ in self.apart.values())
        return apart + sum(len(block.values) for block in self._blocks.values())

    @property
    def row_steps(self) -> Steps:
        """The step of every row, in written order. Without rows, the key written most often tells the order: keys may
        count different things, so only one key with itself can show that the run went back."""
        apart = self.apart.values() if not self._row_steps else ()
        return np.array(max((steps for steps, _, _ in apart), key=len, default=self._row_steps), dtype=np.int64)

    def columns(self) -> dict[str, Column]:
        """Return every key that held numbers. The arrays are copies: the table may go on growing."""
        pieces = {
            key: [Column(np.array(steps, np.int64), np.array(values, np.float64), np.array(walls, np.float64))]
            for key, (steps, values, walls) in self.apart.items()
        }
        for block in self._blocks.values():
            if not block.keys:
                continue
            # One column after the other, and nobody writes to them: then a series need not copy its own out.
            matrix = np.array(np.asarray(block.values, dtype=np.float64).reshape(-1, len(block.keys)).T, order="C")
            steps, rows = np.array(block.steps, dtype=np.int64), np.array(block.rows, dtype=np.int64)
            walls = np.array(block.walls, dtype=np.float64)
            for column in (matrix, steps, rows, walls):
                column.flags.writeable = False
            for place, key in enumerate(block.keys):
                pieces.setdefault(key, []).append(Column(steps, matrix[place], walls, rows))
        return {key: joined(parts) for key, parts in pieces.items()}

    def keys(self) -> frozenset[str]:
        """Return every key that held a number."""
        return frozenset(self.apart).union(*(block.keys for block in self._blocks.values()))

    def stepped_by(self, key: str) -> Table:
        """Return the same rows with the steps that stand under `key`; rows without one are left out."""
        other, nulls = Table(), {null: frozenset(rows) for null, rows in self.nulls.items()}
        for number in range(len(self)):
            values: dict[str, object] = {**self.row(number)}
            step = as_step(values.pop(key, math.nan))
            if step is not None:
                values.update({null: None for null, rows in nulls.items() if null in values and number in rows})
                other.add(step, values)
        return other

    def only(self, kept: NDArray[np.bool_]) -> Table:
        """Return the same table with some of its rows."""
        other = Table()
        for row in np.flatnonzero(kept).tolist():
            other._row_steps.append(self._row_steps[row])
        moved = np.cumsum(kept) - 1  # where each row that is kept stands then
        for keys, block in self._blocks.items():
            rows = np.array(block.rows, dtype=np.int64)
            chosen = kept[rows]
            if not chosen.any():
                continue  # a key without a value is no column
            part = other._blocks[keys] = _Block(keys)
            values = np.array(block.values, dtype=np.float64).reshape(len(rows), len(keys))[chosen]
            part.values.frombytes(np.ascontiguousarray(values).tobytes())
            part.steps.frombytes(np.array(block.steps, dtype=np.int64)[chosen].tobytes())
            part.rows.frombytes(moved[rows[chosen]].astype(np.int64).tobytes())
            part.walls.frombytes(np.array(block.walls, dtype=np.float64)[chosen].tobytes())
        for mine, others in ((self._words, other._words), (self.nulls, other.nulls)):
            for key, held in mine.items():
                rows = np.array(held, dtype=np.int64)
                if kept[rows].any():
                    others[key] = array("q", moved[rows[kept[rows]]].tolist())
        return other

    def at_steps(self, steps: Steps) -> Table:
        """Return the same rows at other steps."""
        other = self.only(np.ones(len(self), dtype=np.bool_))
        other._row_steps = array("q", steps.tolist())
        for block in other._blocks.values():
            block.steps = array("q", steps[np.array(block.rows, dtype=np.int64)].tolist())
        return other

    @property
    def has_walls(self) -> bool:
        """Whether some row says when it was written."""
        return any(wall == wall for block in self._blocks.values() for wall in block.walls)

    def same_as_before(self) -> NDArray[np.bool_]:
        """Return which rows hold exactly the numbers of the row of the same keys right before them, at least two of
        them not whole: two measurements hardly ever agree in all digits."""
        same = np.zeros(len(self), dtype=np.bool_)
        for keys, block in self._blocks.items():
            rows = np.array(block.rows, dtype=np.int64)
            values = np.array(block.values, dtype=np.float64).reshape(len(rows), len(keys))
            parts = np.sum((values != np.round(values)) & np.isfinite(values), axis=1)[1:]
            same[rows[1:]] = np.all(values[1:] == values[:-1], axis=1) & (np.diff(rows) == 1) & (parts > 1)
        return same

    def kinds(self) -> Iterator[tuple[Steps, Values]]:
        """Yield the steps and numbers of the rows that hold the same keys, in written order."""
        for keys, block in self._blocks.items():
            yield np.array(block.steps, dtype=np.int64), np.array(block.values).reshape(len(block.steps), len(keys))

    def words(self) -> dict[str, Steps]:
        """Return the steps at which a key held something else than a number."""
        steps = self.row_steps
        return {key: steps[np.array(rows, dtype=np.int64)] for key, rows in self._words.items()}

    def run_of_rows(self, *, words_only: bool = False) -> list[str]:
        """Return what each row says of which run it is, "grpo,seed=3"; none if not every row says something, or all
        say the same. `words_only`: numbers do not count, as a seed may be that of an episode."""
        said: list[list[str]] = []
        numbered = not words_only and any(map(_tells_runs, self.keys()))
        columns = self.columns() if numbered else {}
        for key in sorted({*self._names, *columns}):
            if (names := self._names.get(key)) is not None:
                each = [names.get(row, "") for row in range(len(self))]
            elif _tells_runs(key) and len(columns[key].values) == len(self) and columns[key].rows is not None:
                each = [f"{key}={value:g}" for value in columns[key].values.tolist()]
            else:
                continue
            said += [each] * ("" not in each and len(set(each)) > 1)
        return [",".join(names) for names in zip(*said, strict=True)]

    @property
    def has_ids(self) -> bool:
        """Whether some word tells each row from all others, and is no time. Some ids look like a number."""
        for key in self._words:
            told = [said[key] for said in self._said if key in said]
            apart = len({*told}) == len(told) > min(len(self), OF_IDS) / 2
            counts = [int("0" + "".join(filter(str.isdecimal, word))[:LONGEST_ID]) for word in told]
            if all(one < other for one, other in pairwise(counts)):  # a time, or a checkpoint: a clock of a kind
                continue
            if apart and not any(len(word) > LONGEST_ID or STAMP.search(word) for word in told):
                return True
        return False

    @property
    def words_differ(self) -> bool:
        """Whether words tell some rows from others."""
        return len({tuple(said.values()) for said in self._said}) > 1

    @property
    def is_told_apart(self) -> bool:
        """Whether all words of a row together tell it from nearly all others."""
        return len({tuple(said.values()) for said in self._said}) >= MOST_APART * min(len(self), OF_IDS)

    def keys_at_start(self) -> frozenset[str]:
        """Return the keys of the earliest step: what a reader sees first, whatever is logged later."""
        return next(self.keys_as_they_came(), frozenset())

    def keys_as_they_came(self) -> Iterator[frozenset[str]]:
        """Yield the keys of the earliest step, then those of it and of every later step at which a new one came."""
        firsts: dict[str, int] = {}
        for block in self._blocks.values():
            first = min(block.steps, default=0)
            for key in block.keys:
                firsts[key] = min(first, firsts.get(key, first))
        for key, (steps, _, _) in self.apart.items():
            firsts[key] = min(steps, default=0)
        for key, rows in self._words.items():
            first = min(self._row_steps[row] for row in rows)
            firsts[key] = min(first, firsts.get(key, first))
        for step in sorted(set(firsts.values())):
            yield frozenset(key for key, first in firsts.items() if first <= step)

    def row(self, number: int) -> dict[str, float]:
        """Return the numbers of one row."""
        for block in self._blocks.values():
            place = int(np.searchsorted(np.frombuffer(block.rows, dtype=np.int64), number)) if block.rows else 0
            if place < len(block.rows) and block.rows[place] == number:
                width = len(block.keys)
                return dict(zip(block.keys, block.values[place * width : (place + 1) * width], strict=True))
        return {}


@lru_cache(maxsize=1024)
def _tells_runs(key: str) -> bool:
    return words(key) in OF_RUNS


def joined(parts: Sequence[Column], *, by_rows: bool = True) -> Column:
    """Return one column out of several pieces: in the order of their rows, or one after the other."""
    if len(parts) == 1:
        return parts[0]
    steps = np.concatenate([part.steps for part in parts])
    values = np.concatenate([part.values for part in parts])
    walls = np.concatenate([part.walls for part in parts])
    if not by_rows or any(part.rows is None for part in parts):
        return Column(steps, values, walls)
    rows = np.concatenate([part.rows for part in parts if part.rows is not None])
    order = np.argsort(rows, kind="stable")
    return Column(steps[order], values[order], walls[order], rows[order])
