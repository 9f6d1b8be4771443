"""A comparison as plain data: what `leadline compare --json` prints."""

from __future__ import annotations

from ..facts.comparison import Comparison
from ..words import compare as words
from .data import plain

SCHEMA = 1
JSON = (str, int, float, bool, type(None))


def as_data(comparison: Comparison) -> dict[str, object]:
    """Return the comparison as plain data: facts under their own names, and what is said of them."""
    return {
        "schema": SCHEMA,
        "clock": comparison.clock,
        "clock_says": words.clock_source(comparison),
        "grouped": comparison.grouped,
        "grouped_says": words.grouped(comparison),
        "guessed": comparison.guessed,
        "groups": plain(comparison.groups),
        "runs": plain(comparison.runs),
        "by": comparison.by.name,
        "more_is_better": comparison.good,
        "headline": words.headline(comparison),
        "says": list(words.answer(comparison)),
        "series": [
            {
                "name": entry.name,
                "keys": list(entry.keys),
                "from": entry.range[0],
                "to": entry.range[1],
                "groups": plain(entry.standings),
                "runs": plain(entry.members),
                "differences": [
                    _fields(pair) | {"says": words.difference(comparison, pair)} for pair in entry.differences
                ],
                "curves": {"at": plain(entry.grid), "groups": plain(entry.bands)},
            }
            for entry in comparison.series
        ],
        "odd": [_fields(entry) | {"says": words.odd(comparison, entry)} for entry in comparison.odd],
        "settings": [
            {
                "name": entry.name,
                # What JSON has no word for is told as Python writes it.
                "values": {
                    group: [plain(value) if isinstance(value, JSON) else repr(value) for value in values]
                    for group, values in entry.values.items()
                },
                "marks_groups": entry.marks_groups,
            }
            for entry in comparison.settings
        ],
        "left_out": plain(comparison.left_out),
        "warnings": [
            {"about": entry.about, **{key: plain(fact) for key, fact in entry.facts.items()}, "says": entry.says}
            for entry in comparison.warnings
        ],
    }


def _fields(entry: object) -> dict[str, object]:
    found = plain(entry)
    assert isinstance(found, dict)  # for the type checker: the facts are dataclasses
    return found
