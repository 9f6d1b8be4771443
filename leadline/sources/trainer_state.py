"""TRL and Hugging Face Trainer: `trainer_state.json`, in a checkpoint folder or beside the checkpoints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from .documents import Document
from .number import as_step, flat, loads
from .source import Log, Parser, Reader
from .table import Table
from .text import TextReader

NAME = "trainer_state"
EXPECTS = "a trainer_state.json, alone, in a checkpoint-N folder, or in an output folder with checkpoint-N folders"

FILE = "trainer_state.json"
# Everything else in the file (global_step, epoch, best_metric, ...) tells how the run went on, not how it was set up.
KNOWN_FROM_THE_START = (
    "max_steps", "num_train_epochs", "logging_steps", "eval_steps", "save_steps", "train_batch_size",
)  # fmt: skip
NEXT_ROW = re.compile(r"(?:^|[,\[}])\s*\{")


def recognises(path: Path, head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    signs = (b'"log_history"', b'"best_global_step"', b'"best_metric"')
    return path.name == FILE or (start.startswith(b"{") and any(sign in head for sign in signs))


def open(path: Path) -> tuple[Reader, ...]:
    return (TextReader(path, parser),)


def parser() -> Parser:
    return WholeState()


class WholeState:
    """The whole file is one JSON object, so it is parsed when asked for."""

    def __init__(self) -> None:
        self._document = Document()

    def feed(self, chunk: bytes) -> None:
        self._document.feed(chunk)

    def log(self) -> Log:
        data = self._document.data
        torn = False
        try:
            state = _with_history(loads(data))
        except ValueError:
            state, torn = _recover(data), True
        table = Table()
        if state is None or not isinstance(history := state.get("log_history"), list):
            return Log(table, torn=torn, notes=self._document.notes)
        settings = {key: state[key] for key in KNOWN_FROM_THE_START if key in state}
        unreadable = _fill(table, history)
        return Log(table, settings=settings, dialect="trl", torn=torn, unreadable=unreadable)


def _with_history(value: object, depth: int = 0) -> dict[str, object] | None:
    """The object that holds the log_history: people save the state inside other things."""
    if not isinstance(value, dict) or depth > 3:
        return None
    if isinstance(value.get("log_history"), list):
        return value
    return next((found for inner in value.values() if (found := _with_history(inner, depth + 1)) is not None), None)


def _fill(table: Table, history: Iterable[object]) -> tuple[tuple[int, int], ...]:
    unreadable = []
    for line, entry in enumerate(history, start=1):
        step = as_step(entry.get("step")) if isinstance(entry, dict) else None
        if step is None or not isinstance(entry, dict):
            unreadable.append((line, len(table)))
        else:
            table.add(step, {key: value for key, value in flat(entry) if key != "step"})
    return tuple(unreadable)


def _recover(data: bytes) -> dict[str, object]:
    """The complete rows of a file that breaks off, and the settings written before them."""
    text = data.decode("utf-8", errors="replace")
    before, mark, after = text.partition('"log_history"')
    state: dict[str, object] = {}
    for key in KNOWN_FROM_THE_START:
        if found := re.search(rf'"{key}"\s*:\s*(-?\d+(?:\.\d+)?)\s*[,}}]', before):
            state[key] = float(found[1])
    opened = re.match(r"\s*:\s*\[", after)
    if not mark or opened is None:
        return state
    decode = json.JSONDecoder().raw_decode
    history: list[object] = []
    state["log_history"] = history
    position = opened.end() - 1  # a row follows a bracket or a comma
    while found := NEXT_ROW.search(after, position):
        try:
            row, position = decode(after, found.end() - 1)
            history.append(row)
        except (ValueError, RecursionError):  # torn or damaged: go on at the next one
            position = found.end()
            if after.find("}", position) >= 0:
                history.append(None)
    return state
