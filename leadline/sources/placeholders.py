"""What stands in a row for a number that was not computed: a null, or a constant beside one.

A null may also be a NaN that its writer could not put into JSON. Which it is shows in the rows before it, so that a log
reads the same however far it has come. Only a constant is told by hindsight: a first row of zeros may be an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..vocabulary.names import tokens
from .table import Column, Rows, Table

Mask = NDArray[np.bool_]
TWICE = 2  # rows with a number and rows without, before a constant between them can be told from one


def computed(table: Table) -> dict[str, Column]:
    """The columns of a table with the values that were computed. A key that never had one has no column, but for a
    training reward or loss: those always are, and a null is then a NaN that could not be written."""
    columns, nulls = table.columns(), table.nulls()
    for key, standing in _beside(columns, nulls).items():
        columns[key] = _only(columns[key], ~standing)
    for key, rows in nulls.items():
        column = columns[key]
        if column.rows is not None:
            columns[key] = _only(column, ~_not_computed(column, np.isin(column.rows, rows)))
            if not len(columns[key].steps):
                del columns[key]
                if _is_always_computed(key):
                    columns[key] = column
    return columns


def _is_always_computed(key: str) -> bool:
    parts = set(tokens(key))
    return bool(parts & {"loss", "reward"}) and "eval" not in parts


def _not_computed(column: Column, null: Mask) -> Mask:
    """Which rows of a column hold a null that is no NaN: beside a number of the same step, before the first number, or
    between numbers that never stood in two steps running, for as long as nulls have stood there before."""
    steps, at = np.unique(column.steps, return_inverse=True)
    number = np.zeros(len(steps), dtype=np.bool_)
    number[at[~null]] = True
    missing = np.zeros(len(steps), dtype=np.bool_)
    seen = consecutive = False
    stretch = longest = 0  # nulls since the last number, and the most there were between two
    for place, holds in enumerate(number.tolist()):
        if holds:
            consecutive |= seen and stretch == 0
            seen, longest, stretch = True, max(longest, stretch), 0
        else:
            stretch += 1
            missing[place] = not seen or (not consecutive and stretch <= longest)
    empty: Mask = null & (number | missing)[at]
    return empty


def _beside(columns: Mapping[str, Column], nulls: Mapping[str, Rows]) -> dict[str, Mask]:
    """The held-out keys that hold one and the same value wherever another of them holds null, and others where that
    holds a number, and where they do: `eval_acc` null and `eval_reward` 0 in every row that was not evaluated."""
    found: dict[str, Mask] = {}
    for other, rows in nulls.items():
        beside = columns[other]
        for key in _held_out_too(other, columns, nulls):
            column = columns[key]
            if column.rows is None or beside.rows is None or not np.array_equal(column.rows, beside.rows):
                continue
            empty = np.isin(column.rows, rows)
            standing, real = column.values[empty], column.values[~empty]
            if min(len(standing), len(real)) < TWICE or not (standing == standing[0]).all():
                continue
            if 2 * int((real != standing[0]).sum()) > len(real):
                found[key] = empty
    return found


def _held_out_too(key: str, columns: Mapping[str, Column], nulls: Mapping[str, Rows]) -> Iterator[str]:
    """The other keys of evaluations, without a null of their own."""
    if "eval" not in tokens(key):
        return iter(())
    return (other for other in columns if other not in nulls and "eval" in tokens(other))


def _only(column: Column, kept: Mask) -> Column:
    if kept.all():
        return column
    rows = None if column.rows is None else column.rows[kept]
    return replace(column, steps=column.steps[kept], values=column.values[kept], walls=column.walls[kept], rows=rows)
