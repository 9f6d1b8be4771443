"""Whole JSON documents, and what can be saved of one that is torn or damaged."""

from __future__ import annotations

import json
import re

from .number import loads

LARGEST = 1 << 27  # bytes of a document; a larger one would not fit beside a training
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
CLOSES = {"{": "}", "[": "]"}
REPAIRS = 20  # how many damaged places are cut out before giving up


class Document:
    """The bytes of one JSON document as they come in, never more than fit."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.too_large = False

    def feed(self, chunk: bytes) -> None:
        if self.too_large:
            return
        self._data += chunk
        if len(self._data) > LARGEST:
            self.too_large = True
            self._data = bytearray()

    @property
    def data(self) -> bytes:
        return bytes(self._data)

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"the file was left out: a document of more than {LARGEST >> 20} MiB",) if self.too_large else ()

    def value(self) -> tuple[object, bool]:
        """What the document holds, and whether it was torn or damaged: then it is all that stands before the damage,
        the unfinished record left out."""
        data = self.data
        try:
            return loads(data), False
        except ValueError:
            return _mended(data.decode("utf-8", errors="replace").removeprefix("\ufeff"))


def _mended(text: str) -> tuple[object, bool]:
    for _ in range(REPAIRS):
        try:
            return json.loads(text), True
        except json.JSONDecodeError as error:
            text = _cut(text, error.pos)
        except (ValueError, RecursionError):  # a number of thousands of digits, brackets without end
            break
        if not text:
            break
    return None, bool(text)


def _cut(text: str, end: int) -> str:
    """The document up to the last whole value before `end`, its open brackets closed."""
    stack: list[str] = []
    safe, closing = 0, ""
    for token in TOKEN.finditer(text, 0, end):
        mark = token[0]
        if mark in CLOSES:
            stack.append(CLOSES[mark])
            safe, closing = token.end(), "".join(reversed(stack))
        elif mark in ("}", "]"):
            if not stack or stack[-1] != mark:
                break
            stack.pop()
            safe, closing = token.end(), "".join(reversed(stack))
        elif mark == ",":
            safe, closing = token.start(), "".join(reversed(stack))
    return text[:safe] + closing if closing or safe else ""
