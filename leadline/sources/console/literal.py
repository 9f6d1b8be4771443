"""Python and JSON literals as they are printed to consoles: `{'loss': '0.01', 'kl': np.float64(nan), 'x': None}`."""

from __future__ import annotations

import re

from ..number import as_number

DEEPEST = 20
SPACE = re.compile(r"\s*")
STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
# A number, a word such as nan or None, or a call such as np.float64(0.5) or tensor(0.5, device='cuda:0').
ATOM = re.compile(
    r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?(?![\w.])|\.\d+(?:[eE][-+]?\d+)?|[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?)"
)
WORDS: dict[str, object] = {"None": None, "null": None, "True": True, "true": True, "False": False, "false": False}
CLOSING = {"{": "}", "[": "]", "(": ")"}


class Torn(ValueError):
    """The text ends before the literal does, or is no literal."""


def read_mapping(text: str, start: int) -> tuple[dict[str, object], int]:
    """Return the mapping that begins at `start`, and where it ends. Raises Torn.

    >>> read_mapping("{'loss': '0.5', 'kl': np.float64(nan), 'n': [1, 2]} tail", 0)
    ({'loss': '0.5', 'kl': 'np.float64(nan)', 'n': [1, 2]}, 51)
    """
    value, end = _value(text, start, 0)
    if not isinstance(value, dict):
        raise Torn
    return value, end


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    at = _skip(text, at)
    mark = text[at : at + 1]
    if depth > DEEPEST or not mark:
        raise Torn
    if mark in CLOSING:
        return _items(text, at + 1, CLOSING[mark], depth)
    if string := STRING.match(text, at):
        return string[0][1:-1], string.end()
    atom = ATOM.match(text, at)
    if atom is None:
        raise Torn
    word = atom[0]
    number = as_number(word)
    if word in WORDS or number is None or "(" in word:
        return WORDS.get(word, word), atom.end()
    whole = word.isascii() and word.lstrip("+-").isdigit() and len(word) < 19
    return int(word) if whole else number, atom.end()


def _items(text: str, at: int, closing: str, depth: int) -> tuple[dict[str, object] | list[object], int]:
    """Return the items up to a closing mark: a mapping for a brace, else a list."""
    mapping: dict[str, object] = {}
    items: list[object] = []
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == closing:
            return mapping if closing == "}" else items, at + 1
        value, at = _value(text, at, depth + 1)
        if closing == "}":
            at = _skip(text, at)
            if text[at : at + 1] != ":" or isinstance(value, (dict, list)):
                raise Torn
            mapping[str(value)], at = _value(text, at + 1, depth + 1)
        else:
            items.append(value)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != closing:
            raise Torn


def _skip(text: str, at: int) -> int:
    space = SPACE.match(text, at)
    return space.end() if space else at
