"""TRL and Hugging Face Trainer: `trainer_state.json`, in a checkpoint folder or beside the checkpoints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from .number import as_step, flat, loads
from .source import Log, Row

NAME = "trainer_state"
EXPECTS = "a trainer_state.json, alone, in a checkpoint-N folder, or in an output folder with checkpoint-N folders"

FILE = "trainer_state.json"
# Everything else in the file (global_step, epoch, best_metric, ...) tells how the run went on, not how it was set up.
KNOWN_FROM_THE_START = (
    "max_steps",
    "num_train_epochs",
    "logging_steps",
    "eval_steps",
    "save_steps",
    "train_batch_size",
)
CHECKPOINT = re.compile(r"checkpoint-(\d+)$")


def find(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        with path.open("rb") as file:
            return (path,) if path.name == FILE or recognises(file.read(4096)) else ()
    own = [path / FILE] if (path / FILE).is_file() else []
    saved = [
        (int(name[1]), file)
        for file in path.glob(f"checkpoint-*/{FILE}")
        if (name := CHECKPOINT.search(file.parent.name))
    ]
    return tuple(own + [file for _, file in sorted(saved, reverse=True)])


def recognises(head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and any(
        sign in head for sign in (b'"log_history"', b'"best_global_step"', b'"best_metric"')
    )


def parse(data: bytes) -> Log:
    try:
        state = loads(data)
        torn = False
    except ValueError:
        state, torn = _recover(data), True
    if not isinstance(state, dict) or not isinstance(history := state.get("log_history"), list):
        return Log((), torn=torn)
    settings = {key: state[key] for key in KNOWN_FROM_THE_START if key in state}
    rows, unreadable = _rows(history)
    return Log(rows, settings=settings, torn=torn, unreadable=unreadable)


def _rows(history: Iterable[object]) -> tuple[tuple[Row, ...], tuple[tuple[int, int], ...]]:
    rows: list[Row] = []
    unreadable = []
    for line, entry in enumerate(history, start=1):
        step = as_step(entry.get("step")) if isinstance(entry, dict) else None
        if step is None or not isinstance(entry, dict):
            unreadable.append((line, len(rows)))
        else:
            rows.append(Row(step, {key: value for key, value in flat(entry) if key != "step"}))
    return tuple(rows), tuple(unreadable)


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
    gap = re.compile(r"[\s,]*")
    position = opened.end()
    while True:
        position = gap.match(after, position).end()  # type: ignore[union-attr]  # matches the empty string too
        if position >= len(after) or after[position] != "{":
            return state
        try:
            row, position = decode(after, position)
        except (ValueError, RecursionError):
            return state
        history.append(row)
