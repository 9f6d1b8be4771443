"""The reading as JSON, schema 1, for other programs."""

from __future__ import annotations

import re

import orjson

from ..contract import Reading, as_data

NAME = "json"

OBEYED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # JSON may hold them as they are, a terminal obeys them


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """One JSON object. A number that is not finite is written as null; text that is no Unicode loses what is wrong."""
    return dump(as_data(reading))


def dump(value: object, *, lines: bool = False) -> str:
    """Plain data as JSON that a terminal may show; `lines`: on one line, for several in a row."""
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY | (0 if lines else orjson.OPT_INDENT_2)
    text = orjson.dumps(_clean(value), option=options).decode()
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _clean(value: object) -> object:
    """File names and logs may hold lone surrogates, which JSON cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="replace").decode()
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return value
