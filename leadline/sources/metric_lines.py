"""Metrics as JSON lines, by whatever keys: prime-rl, tinker, RLlib's `result.json`, SB3's `progress.json`, ROLL, W&B
exports, and home-made loops."""

from __future__ import annotations

from pathlib import Path

from . import json_document
from .free_rows import FreeRows, is_row
from .json_lines import JsonLines, first_objects
from .number import flat, loads
from .row import may_be_logged, unwrapped
from .source import Parser, Reader
from .text import TextReader

NAME = "jsonl"
EXPECTS = "a file of JSON objects, one a line, with numbers in them"


def recognises(path: Path, head: bytes) -> bool:
    """Lines that are objects with numbers. Dumps of samples are lines of objects too, but hold text."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    lines = first_objects(head)[:20]
    named = path.suffix in (".jsonl", ".ndjson") or path.name in ("result.json", "progress.json")
    if not named and len(lines) == 1 and json_document.recognises(path, head):
        return False  # a whole document on one line
    rows = [entry for entry in map(_tried, lines) if isinstance(entry, dict) and is_row(entry)]
    return bool(rows) and may_be_logged([dict(flat(unwrapped(row))) for row in rows])


def open(path: Path) -> tuple[Reader, ...]:
    return (TextReader(path, parser),)


def parser() -> Parser:
    return JsonLines(FreeRows(repeats="resume"))


def _tried(line: bytes) -> object:
    try:
        return loads(line)
    except ValueError:
        return None
