"""Comma- or tab-separated values: SB3's `progress.csv` and `monitor.csv`, RLlib's `progress.csv`, W&B exports, tables
copied out of notebooks, and home-made ones."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..vocabulary.guess import may_be_reward
from .lines import Lines
from .number import FURTHEST, as_number, as_step, loads
from .row import held_out, is_held_out, kind_key, may_be_logged, step_key, wall_in
from .source import Log, Parser, Reader
from .table import Table
from .text import TextReader

NAME = "csv"
EXPECTS = "a .csv or .tsv file with a header and rows of numbers"
SEPARATORS = (",", "\t", ";")
WANDB = re.compile(r"^(?P<run>.+) - (?P<key>.+?)(?P<bound>__M(IN|AX))?$")  # a chart exported from W&B
DECIMAL = re.compile(r"^(\s*[-+]?\d+),(\d+(?:[eE][-+]?\d+)?\s*)$")
TENSORBOARD = ("Wall time", "Step", "Value")  # a curve that was downloaded; its file is named after run and tag
TAG = re.compile(r"^(?:run-.*-)?tag-(?P<tag>.+)$")
ENOUGH = 16  # rows after which it is decided which column is the step
WIDEST = 10_000  # columns
FEWEST = 3  # numbers below a name that make it a column


def recognises(path: Path, head: bytes) -> bool:
    """A header of names, then a row of as many cells with numbers in it."""
    rows = Separated()
    rows.feed(head if head.endswith(b"\n") or b"\n" not in head else head[: head.rindex(b"\n") + 1])
    return rows.plausible


def open(path: Path) -> tuple[Reader, ...]:
    return (TextReader(path, partial(Separated, _tag(path))),)


def parser() -> Parser:
    return Separated()


class Separated:
    """A parser of separated values. Empty cells are absent, not zero."""

    def __init__(self, tag: str = "") -> None:
        self._tag = tag  # what the values of a file with one curve are, as its name says
        self._lines = Lines()
        self._number = 0
        self._separator = ","
        self._header: list[str] | None = None
        self._monitor: float | None = None  # when an SB3 monitor began; its rows are episodes
        self._episodes = 0  # environment steps so far, of a monitor
        self._first: list[list[str]] = []
        self._waiting: list[list[str]] = []
        self._step_key: str | None = None
        self._kind_key: str | None = None
        self._decided = False
        self._table = Table()
        self._unreadable: list[tuple[int, int]] = []
        self._bad_width = 0
        self._numeric = 0  # rows with a number in them
        self._wordy = 0  # rows without one

    @property
    def plausible(self) -> bool:
        """Whether what was fed so far looks like a table of logged numbers at all."""
        if self._header is None or not self._numeric or max(self._bad_width, self._wordy) > self._numeric:
            return False
        if len(self._header) == 1:  # a list of numbers: its name has to say that they are rewards
            return self._numeric >= FEWEST and may_be_reward(self._header[0])
        rows = [_without_run(dict(zip(self._header, cells, strict=True))) for cells in self._first]
        return self._monitor is not None or may_be_logged(
            [{key: cell for key, cell in row.items() if cell} for row in rows]
        )

    def feed(self, chunk: bytes) -> None:
        for lines in self._lines.take(chunk):
            for line in lines:
                self._number += 1
                self._take(line.decode("utf-8", errors="replace").rstrip("\r"))

    def _take(self, line: str) -> None:
        if not line.strip():
            return
        if line.startswith("#") and self._header is None:
            self._preamble(line)
        elif self._header is None:
            self._open(line.removeprefix("\ufeff"))
        else:
            cells = self._cells(line)
            if len(cells) != len(self._header) or cells == self._header:  # a header may be written again on a restart
                self._bad_width += cells != self._header
                if cells != self._header:
                    self._unreadable.append((self._number, len(self._table) + len(self._waiting)))
                return
            if len(self._first) < ENOUGH:
                self._first.append(cells)
            has_number = any(_number(cell) is not None for cell in cells if cell)
            self._numeric += has_number
            self._wordy += not has_number
            if self._decided:
                self._file(cells)
            else:
                self._waiting.append(cells)
                if len(self._waiting) >= ENOUGH:
                    self._decide()

    def _preamble(self, line: str) -> None:
        try:
            state = loads(line[1:].encode())
        except ValueError:
            return
        if isinstance(state, dict) and (start := as_number(state.get("t_start", ""))) is not None:
            self._monitor = start

    def _open(self, line: str) -> None:
        self._separator = max(SEPARATORS, key=line.count)
        header = [name.strip() for name in self._cells(line)]
        if len(header) <= WIDEST and sum(_number(name) is None for name in header) * 2 > len(header):
            self._header = header if len(set(header)) == len(header) else _told_apart(header)
            if header == [*TENSORBOARD]:
                self._header = ["wall_time", "step", self._tag or "Value"]

    def _cells(self, line: str) -> list[str]:
        try:
            cells = next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error:
            return []
        # Semicolons stand between the cells where a comma stands in the numbers.
        return [DECIMAL.sub(r"\1.\2", cell) for cell in cells] if self._separator == ";" else cells

    def _decide(self) -> None:
        self._decided = True
        header = self._header or []
        if self._monitor is None or set(header) < {"r", "l", "t"}:
            rows = [{key: cell for key, cell in zip(header, cells, strict=True) if cell} for cells in self._waiting]
            self._step_key = step_key([dict(row) for row in rows])
            self._kind_key = kind_key(rows)
        waiting, self._waiting = self._waiting, []
        for cells in waiting:
            self._file(cells)

    def _file(self, cells: Sequence[str]) -> None:
        values: dict[str, object] = {}
        wall = None
        step: int | None = None
        for key, cell in zip(self._header or (), cells, strict=True):
            if key == self._step_key:
                step = as_step(cell)
            elif cell:
                number = _number(cell)
                values[key] = cell if number is None else number
        if self._monitor is not None and "l" in values:
            length = as_step(values["l"])
            if length is None or length < 0 or self._episodes + length >= FURTHEST:
                self._unreadable.append((self._number, len(self._table)))
                return
            self._episodes += length
            step = self._episodes
            wall = self._monitor + (as_number(values.get("t", "")) or math.nan)
        elif self._step_key is None:
            step = len(self._table) + 1
        elif step is None:
            self._unreadable.append((self._number, len(self._table)))
            return
        if (seen := wall_in(values)) is not None:
            wall = seen[1]
            del values[seen[0]]
        if self._kind_key is not None and is_held_out(values.pop(self._kind_key, None)):
            values = held_out(values)
        if values:
            self._table.add(step, _without_run(values), wall)

    def log(self) -> Log:
        if not self._decided and self._waiting:
            self._decide()
        return Log(
            self._table,
            dialect="sb3-monitor" if self._monitor is not None else None,
            repeats="parts" if self._monitor is None else "rewrite",
            counts_rows=self._decided and self._step_key is None and self._monitor is None,
            torn=bool(self._lines.rest.strip()),
            unreadable=tuple(self._unreadable),
            notes=self._lines.notes,
        )


def _tag(path: Path) -> str:
    """What a curve downloaded from TensorBoard is called: `run-ppo_3-tag-train_return.csv`.

    >>> _tag(Path("run-ppo_3-tag-rollout_ep_rew_mean.csv")), _tag(Path("rewards (1).csv"))
    ('rollout_ep_rew_mean', 'rewards')
    """
    stem = re.sub(r" ?\(\d+\)$", "", path.name.removesuffix(".gz").rsplit(".", 1)[0])
    match = TAG.match(stem)
    return match["tag"] if match else stem


def _number(cell: str) -> float | None:
    return as_number(cell) if cell.strip().lower() not in ("none", "null", "na", "n/a") else math.nan


def _told_apart(header: Sequence[str]) -> list[str]:
    """Names of which some repeat, the later ones with their place."""
    return [name if header.index(name) == place else f"{name}#{place}" for place, name in enumerate(header)]


def _without_run(values: dict[str, object]) -> dict[str, object]:
    """The row of a W&B chart with plain keys: "my-run - train/reward" and its bounds become "train/reward"."""
    matches = {key: WANDB.match(key) for key in values}
    runs = {match["run"] for match in matches.values() if match}
    if len(runs) != 1:
        return values
    return {
        match["key"] if match else key: values[key]
        for key, match in matches.items()
        if match is None or not match["bound"]
    }
