"""A comparison as plain data: what `leadline compare --json` prints."""

from __future__ import annotations

from typing import Any

from ..facts.comparison import Compared, Comparison, Setting
from ..words import compare as words
from .data import plain

SCHEMA = 1
JSON = (str, int, float, bool, type(None))


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain data: facts under their own names, and what is said of them."""
    told: dict[str, Any] = {
        "schema": SCHEMA,
        "clock": comparison.clock,
        "clock_says": words.clock_source(comparison),
        "grouped": comparison.grouped,
        "grouped_says": words.grouped(comparison),
        "guessed": comparison.guessed,
        "groups": comparison.groups,
        "runs": comparison.runs,
        "by": comparison.by.name,
        "more_is_better": comparison.good,
        "headline": words.headline(comparison),
        "says": words.answer(comparison),
        "series": [_series(comparison, entry) for entry in comparison.series],
        "odd": [plain(entry) | {"says": words.odd(comparison, entry)} for entry in comparison.odd],
        "settings": [_setting(entry) for entry in comparison.settings],
        "left_out": comparison.left_out,
        "warnings": [{"about": entry.about, **entry.facts, "says": entry.says} for entry in comparison.warnings],
    }
    return {name: plain(entry) for name, entry in told.items()}


def _series(comparison: Comparison, entry: Compared) -> dict[str, Any]:
    return {
        "name": entry.name,
        "keys": entry.keys,
        "from": entry.range[0],
        "to": entry.range[1],
        "groups": entry.standings,
        "runs": entry.members,
        "differences": [plain(pair) | {"says": words.difference(comparison, pair)} for pair in entry.differences],
        "curves": {"at": entry.grid, "groups": entry.bands},
    }


def _setting(entry: Setting) -> dict[str, Any]:
    """What JSON has no word for is told as Python writes it."""
    values = {
        group: [value if isinstance(value, JSON) else repr(value) for value in some]
        for group, some in entry.values.items()
    }
    return {"name": entry.name, "values": values, "marks_groups": entry.marks_groups}
