"""Rows as YAML: one document a step, or one entry of a list, as a loop appends them."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from .number import flat
from .row import FreeRows, is_row, may_be_logged
from .source import Log
from .text import Lines

LONGEST = 1 << 16  # bytes of a row
ALIAS = re.compile(rb"(?:^|[\s:\[{,-])[&*]\w")  # a few of them can stand for a mapping of any size
PARTS = re.compile(rb"---\s*|\.\.\.\s*|- .*")  # lines that a row begins with or ends at
FIELD = re.compile(rb"\s*[\w./ \"'-]+:(?:\s[ -~]*)?")  # a key, and perhaps a value
LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recognises(path: Path, head: bytes) -> bool:
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1]
    named = any(suffix in path.suffixes for suffix in (".yaml", ".yml"))
    if not lines or not (named or PARTS.fullmatch(lines[0].rstrip(b"\r"))):
        return False
    blocks = _Blocks()
    whole = [block for line in lines if (block := blocks.take(line.rstrip(b"\r"))) is not None]
    rows = [row for block in whole if (row := _row(block)) is not None]
    return len(rows) >= 2 and (named or len(rows) == len(whole)) and may_be_logged([dict(flat(row)) for row in rows])


class _Blocks:
    """Lines as blocks of which each is one row."""

    def __init__(self) -> None:
        self.open: list[bytes] = []

    def take(self, line: bytes) -> bytes | None:
        """Take one line; the block that it ends, if any."""
        if PARTS.fullmatch(line) is None:
            self.open.append(line)
            return None
        whole = b"\n".join(self.open)
        self.open = [b" " + line[1:]] if line.startswith(b"- ") else []
        return whole if whole.strip() else None


class _YamlRows:
    """A parser of such a file. What is no row is counted and passed over."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._blocks = _Blocks()
        self._rows = FreeRows("parts")
        self._number = 0
        self._keys: tuple[str, ...] = ()  # of the last row
        self._unreadable: list[tuple[int, int]] = []

    def feed(self, chunk: bytes) -> None:
        for lines in self._lines.take(chunk):
            for line in lines:
                self._number += 1
                block = self._blocks.take(line.rstrip(b"\r"))
                if block is not None:
                    self._file(block)

    def _file(self, block: bytes) -> None:
        row = _row(block)
        keys = () if row is None else tuple(key for key, _ in flat(row))
        if row is not None and self._rows.add(row):
            self._keys = keys
        else:
            self._unreadable.append((self._number, len(self._rows)))

    def log(self) -> Log:
        last = b"\n".join(self._blocks.open)
        row = None if self._lines.rest.strip() else _row(last)
        if row is not None and tuple(key for key, _ in flat(row)) == self._keys:  # as whole as the one before it
            self._blocks.open = []
            self._file(last)
        torn = bool(self._lines.rest.strip()) or any(line.strip() for line in self._blocks.open)
        return self._rows.log(torn=torn, unreadable=self._unreadable, notes=self._lines.notes)


def _row(block: bytes) -> dict[str, object] | None:
    if len(block) > LONGEST or ALIAS.search(block):
        return None
    found = _loaded(block)
    if not isinstance(found, dict):  # a line of something else may stand in between
        found = _loaded(b"\n".join(line for line in block.split(b"\n") if FIELD.fullmatch(line)))
    if not isinstance(found, dict):
        return None
    row = {str(key): value for key, value in found.items()}
    return row if is_row(row) else None


def _loaded(block: bytes) -> object:
    try:
        return yaml.load(block.decode("utf-8", errors="replace"), LOADER)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None


parser = _YamlRows
