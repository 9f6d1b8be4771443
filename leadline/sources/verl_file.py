"""verl's `file` logger: one JSON object a line, `{"step": 12, "data": {"critic/score/mean": 0.42}}`."""

from __future__ import annotations

from pathlib import Path

from .json_lines import JsonLines, first_objects
from .number import FURTHEST, as_step
from .source import Log, Parser, Reader
from .table import Table
from .text import TextReader

NAME = "verl_file"
EXPECTS = 'a .jsonl file of lines {"step": N, "data": {...}}, alone or in a folder'


def recognises(path: Path, head: bytes) -> bool:
    """A line with a step and its data among the first ones; a line longer than the head is judged by its start."""
    return any(b'"step"' in line and b'"data"' in line for line in first_objects(head))


def open(path: Path) -> tuple[Reader, ...]:
    return (TextReader(path, parser),)


def parser() -> Parser:
    return JsonLines(StepsWithData())


class StepsWithData:
    """Files {"step": N, "data": {...}} as rows."""

    def __init__(self) -> None:
        self._table = Table()

    def __len__(self) -> int:
        return len(self._table)

    def add(self, entry: dict[str, object]) -> bool:
        step, data = as_step(entry.get("step")), entry.get("data")
        if step is None or not isinstance(data, dict):
            return False
        self._table.add(step, data)
        return True

    def add_all(self, entries: list[dict[str, object]]) -> bool:
        steps = [entry.get("step") for entry in entries]
        rows = [entry.get("data") for entry in entries]
        if not all(type(step) is int and abs(step) < FURTHEST for step in steps) or not all(
            type(row) is dict for row in rows
        ):
            return False
        self._table.add_many(steps, rows)  # type: ignore[arg-type]  # checked just above
        return True

    def log(self, *, torn: bool, unreadable: tuple[tuple[int, int], ...], notes: tuple[str, ...]) -> Log:
        return Log(self._table, repeats="resume", torn=torn, unreadable=unreadable, notes=notes)
