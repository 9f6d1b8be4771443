"""Comma- or tab-separated values: SB3's `progress.csv` and `monitor.csv`, RLlib's `progress.csv`, W&B exports, tables
copied out of notebooks, and home-made ones."""

from __future__ import annotations

import csv
import math
import re
from functools import partial
from pathlib import Path

from ..records import replace
from ..vocabulary.guess import may_be_reward
from .number import FURTHEST, as_number, as_step, object_in
from .row import ENOUGH, FreeRows, may_be_logged
from .source import Log, Reader
from .text import Lines, TextReader

SEPARATORS = (",", "\t", ";")
WANDB = re.compile(r"^(?P<run>.+) - (?P<key>.+?)(?P<bound>__M(IN|AX))?$")  # a chart exported from W&B
DECIMAL = re.compile(r"^(\s*[-+]?\d+),(\d+(?:[eE][-+]?\d+)?\s*)$")
TENSORBOARD = ("Wall time", "Step", "Value")  # a curve that was downloaded; its file is named after run and tag
TAG = re.compile(r"^(?:run-.*-)?tag-(?P<tag>.+)$")
WIDEST = 10_000  # columns
FEWEST = 3  # numbers below a name that make it a column
NONE = ("none", "null", "na", "n/a")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a header of names is followed by rows of as many cells with numbers in them."""
    rows = Separated()
    rows.feed(head if head.endswith(b"\n") or b"\n" not in head else head[: head.rindex(b"\n") + 1])
    return rows.plausible


def open(path: Path) -> tuple[Reader, ...]:
    return (TextReader(path, partial(Separated, _tag(path))),)


class Separated:
    """A parser of separated values. Empty cells are absent, not zero."""

    def __init__(self, tag: str = "") -> None:
        self._tag = tag  # what the values of a file with one curve are, as its name says
        self._lines = Lines()
        self._number = 0
        self._separator = ","
        self._written: list[str] = []  # the header as it stands there
        self._header: list[str] = []
        self._skipped: set[str] = set()  # columns of a W&B chart that are bounds of others
        self._monitor: float | None = None  # when an SB3 monitor began; its rows are episodes
        self._episodes = 0  # environment steps so far, of a monitor
        self._rows = FreeRows("parts")
        self._first: list[dict[str, object]] = []
        self._unreadable: list[tuple[int, int]] = []
        self._bad_width = 0
        self._numeric = 0  # rows with a number in them
        self._wordy = 0  # rows without one

    @property
    def plausible(self) -> bool:
        """Whether what was fed so far looks like a table of logged numbers at all."""
        if not self._header or not self._numeric or max(self._bad_width, self._wordy) > self._numeric:
            return False
        if len(self._header) == 1:  # a list of numbers: its name has to say that they are rewards
            return self._numeric >= FEWEST and may_be_reward(self._header[0])
        return self._monitor is not None or may_be_logged(self._first)

    def feed(self, chunk: bytes) -> None:
        for line in self._lines.take(chunk):
            self._number += 1
            self._take(line.decode("utf-8", errors="replace").rstrip("\r"))

    def _take(self, line: str) -> None:
        if not line.strip():
            return
        if not self._header:
            if not line.startswith("#"):
                self._open(line.removeprefix("\ufeff"))
                return
            said = object_in(line[1:].encode()) or {}
            if (start := as_number(said.get("t_start", ""))) is not None:
                self._monitor = start
            return
        cells = self._cells(line)
        if cells == self._written:  # a header may be written again on a restart
            return
        if len(cells) != len(self._header):
            self._bad_width += 1
            self._unreadable.append((self._number, len(self._rows)))
            return
        values = {
            key: _value(cell)
            for key, cell in zip(self._header, cells, strict=True)
            if cell and key not in self._skipped
        }
        has_number = float in map(type, values.values())
        self._numeric += has_number
        self._wordy += not has_number
        if len(self._first) < ENOUGH:
            self._first.append(dict(values))
        if not (has_number and self._counted(values) and self._rows.add(values, sure=True)):
            self._unreadable.append((self._number, len(self._rows)))

    def _counted(self, values: dict[str, object]) -> bool:
        """Give a row of a monitor its step, the length of all episodes so far, and its time."""
        if self._monitor is None or "l" not in values:
            return True
        length, after = as_step(values["l"]), as_number(values.get("t", ""))
        if length is None or length < 0 or self._episodes + length >= FURTHEST:
            return False
        self._episodes += length
        values["step"] = self._episodes
        if after is not None and math.isfinite(after):
            values["timestamp"] = self._monitor + after
        return True

    def _open(self, line: str) -> None:
        self._separator = max(SEPARATORS, key=line.count)
        self._written = self._cells(line)
        header = [name.strip() for name in self._written]
        if len(header) > WIDEST or sum(as_number(name) is None for name in header) * 2 <= len(header):
            return
        if header == [*TENSORBOARD]:
            header = ["wall_time", "step", self._tag or "Value"]
        # In a W&B chart of one run, "my-run - train/reward" becomes "train/reward", and its bounds are skipped.
        charted = {key: match for key in header if (match := WANDB.match(key))}
        if len({match["run"] for match in charted.values()}) == 1:
            self._skipped = {key for key, match in charted.items() if match["bound"]}
            header = [key if key in self._skipped or key not in charted else charted[key]["key"] for key in header]
        # Of names that repeat, the later ones get their place.
        self._header = [name if header.index(name) == place else f"{name}#{place}" for place, name in enumerate(header)]

    def _cells(self, line: str) -> list[str]:
        if '"' not in line and self._separator != ";":
            return line.split(self._separator)
        try:
            cells = next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error:
            return []
        # Semicolons stand between the cells where a comma stands in the numbers.
        return [DECIMAL.sub(r"\1.\2", cell) for cell in cells] if self._separator == ";" else cells

    def log(self) -> Log:
        log = self._rows.log(torn=bool(self._lines.rest.strip()), unreadable=self._unreadable, notes=self._lines.notes)
        return log if self._monitor is None else replace(log, dialect="sb3-monitor", repeats="rewrite")


def _tag(path: Path) -> str:
    """Return what a curve downloaded from TensorBoard is called: `run-ppo_3-tag-train_return.csv`.

    >>> _tag(Path("run-ppo_3-tag-rollout_ep_rew_mean.csv")), _tag(Path("rewards (1).csv"))
    ('rollout_ep_rew_mean', 'rewards')
    """
    stem = re.sub(r" ?\(\d+\)$", "", path.name.removesuffix(".gz").rsplit(".", 1)[0])
    match = TAG.match(stem)
    return match["tag"] if match else stem


def _value(cell: str) -> object:
    try:
        return float(cell)  # nearly all of them
    except ValueError:
        number = math.nan if cell.strip().lower() in NONE else as_number(cell)
    return cell if number is None else number


parser = Separated
