"""verl's `file` logger: one JSON object a line, `{"step": 12, "data": {"critic/score/mean": 0.42}}`."""

from __future__ import annotations

from pathlib import Path

from ..errors import NotOneRun
from .number import as_step, flat, loads
from .source import Log, Row, names_of

NAME = "verl_file"
EXPECTS = 'a .jsonl file of lines {"step": N, "data": {...}}, alone or in a folder'


def find(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        return (path,) if _looks_right(path) else ()
    usual = path / "metrics.jsonl"
    if usual.is_file() and _looks_right(usual):
        return (usual,)
    files = tuple(file for file in sorted(path.glob("*.jsonl")) if file.is_file() and _looks_right(file))
    if len(files) > 1:
        raise NotOneRun(
            f"{path} holds {len(files)} logs: {names_of(files)}.",
            tried="metrics.jsonl, or a single .jsonl log",
            next_step="pass the one to read",
        )
    return files


def recognises(head: bytes) -> bool:
    """A line with a step and its data among the first ones; a line longer than the head is judged by its start."""
    lines = head.splitlines()
    return any(
        b'"step"' in line and b'"data"' in line for line in lines if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"{")
    )


def parse(data: bytes) -> Log:
    rows: list[Row] = []
    unreadable = []
    torn = False
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is not None:
            rows.append(row)
        elif number == len(lines):  # no newline after it: the writer was still at it
            torn = True
        else:
            unreadable.append((number, len(rows)))
    return Log(tuple(rows), repeats_are_resumes=True, torn=torn, unreadable=tuple(unreadable))


def _row(line: bytes) -> Row | None:
    try:
        entry = loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(data := entry.get("data"), dict):
        return None
    step = as_step(entry.get("step"))
    return None if step is None else Row(step, dict(flat(data)))


def _looks_right(path: Path) -> bool:
    with path.open("rb") as file:
        return recognises(file.read(1 << 16))
