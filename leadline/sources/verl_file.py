"""verl's `file` logger: one JSON object a line, `{"step": 12, "data": {"critic/score/mean": 0.42}}`."""

from __future__ import annotations

from pathlib import Path

from .json_lines import JsonLines, StepsWithData, first_objects
from .source import Parser, Reader
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
