"""A comparison as plain data: what `leadline compare --json` prints."""

from __future__ import annotations

from dataclasses import asdict

from ..facts import Facts
from ..facts.comparison import Compared, Comparison, Difference, Gap, RunStanding, Unit
from ..words import compare as words

SCHEMA = 1


def as_data(comparison: Comparison) -> dict[str, object]:
    """The comparison as plain data."""
    return {
        "schema": SCHEMA,
        "clock": comparison.clock,
        "clock_says": words.clock_source(comparison),
        "grouped": comparison.grouped,
        "grouped_says": words.grouped(comparison),
        "guessed": comparison.guessed,
        "groups": {name: list(runs) for name, runs in comparison.groups.items()},
        "runs": [
            {
                "name": entry.name,
                "path": entry.path,
                "group": entry.group,
                "framework": entry.framework,
                "first_step": entry.first_step,
                "last_step": entry.last_step,
            }
            for entry in comparison.runs
        ],
        "by": comparison.by.name,
        "more_is_better": comparison.good,
        "headline": words.headline(comparison),
        "says": list(words.answer(comparison)),
        "series": [_compared(comparison, entry) for entry in comparison.series],
        "odd": [
            {
                "run": entry.run,
                "group": entry.group,
                "series": entry.series,
                "final": _gap(entry.final),
                "chance": entry.chance,
                "sure_from": entry.sure_from,
                "says": words.odd(comparison, entry),
            }
            for entry in comparison.odd
        ],
        "settings": [
            {
                "name": entry.name,
                "marks_groups": entry.marks_groups,
                "values": {group: [_plain(value) for value in values] for group, values in entry.values.items()},
            }
            for entry in comparison.settings
        ],
        "left_out": [{"name": entry.name, "why": words.left_out(entry)} for entry in comparison.left_out],
        "warnings": [_warning(entry, comparison.clock) for entry in comparison.warnings],
    }


def _warning(facts: Facts, unit: Unit) -> dict[str, object]:
    return {"about": type(facts).__name__, **asdict(facts), "says": words.warning(facts, unit)}


def _compared(comparison: Comparison, entry: Compared) -> dict[str, object]:
    return {
        "name": entry.name,
        "keys": list(entry.keys),
        "from": entry.range[0],
        "to": entry.range[1],
        "groups": [_standing(group) for group in entry.standings],
        "runs": [_standing(run) for run in entry.members],
        "differences": [_difference(comparison, pair) for pair in entry.differences],
        "curves": {
            "at": entry.grid.tolist(),
            "groups": {
                name: {"low": band.low.tolist(), "middle": band.middle.tolist(), "high": band.high.tolist()}
                for name, band in entry.bands.items()
            },
        },
    }


def _standing(entry: RunStanding) -> dict[str, object]:
    return {
        "name": entry.name,
        "runs": list(entry.runs),
        "final": entry.final,
        "interval": list(entry.interval),
        "best": entry.best,
        "best_at": entry.best_at,
    }


def _difference(comparison: Comparison, entry: Difference) -> dict[str, object]:
    shuffled = entry.shuffled
    return {
        "first": entry.first,
        "second": entry.second,
        "beyond_seeds": entry.beyond_seeds,
        "told": entry.told,
        "final": _gap(entry.final),
        "whole": _gap(entry.whole),
        "chance": entry.chance,
        "opens": None if entry.opens is None else {"at": entry.opens[1], "interval": [entry.opens[0], entry.opens[2]]},
        "sure_from": entry.sure_from,
        "there_by": entry.there_by,
        "shuffled": None if shuffled is None else {"as_far": shuffled.as_far, "of": shuffled.of},
        "runs_needed": entry.runs_needed,
        "says": words.difference(comparison, entry),
    }


def _gap(gap: Gap) -> dict[str, object]:
    return {"size": gap.size, "interval": list(gap.interval), "chance": gap.chance}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else repr(value)
