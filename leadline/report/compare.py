"""Several runs on one screen: which differs, a table, the primary metric of every group over one clock, the rest; and
as plain data: what `leadline compare --json` prints."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.text import Text

from ..digits import axis_label, interval, level
from ..facts.comparison import Compared, Comparison, Difference, RunStanding, Setting
from ..words import compare as words
from ..words.compare import (
    also,
    amount,
    differing_settings,
    more_of,
    not_told_apart,
    setting_values,
    span,
    standing,
)
from . import palette
from .braille import DOWN, Area, Points, draw, frame
from .data import plain
from .lines import MARGIN, NARROWEST, aligned, labeled, shown
from .panels import beside_axis
from .plain import line

HEIGHT = 40  # lines of a screen where there is none
PLOT = {34: 9, 28: 7, 22: 5}  # lines of plot on a screen of at least so many
MOST_ROWS = 12  # of the table on one screen
LONGEST = 32  # columns of a name: what is longer is cut in the middle, where names of runs differ least
ANSWERS = 4  # sentences before the table on one screen
SAYS = {"answer": 5, "also": 4, "warning": 2}  # lines a sentence may take on one screen
MARKS = string.ascii_uppercase
MOST_LETTERS = 3  # beside one row of the plot
SCHEMA = 1
JSON = (str, int, float, bool, type(None))


def render(comparison: Comparison, *, color: bool = False, width: int = 100, height: int = HEIGHT) -> str:
    """Return a screenful. Every pair on every metric is on the page (`compare_html.py`)."""
    width = max(width, NARROWEST)
    rows = next((rows for least, rows in PLOT.items() if height >= least), 0)
    top = [*_answer(comparison, width), *_table(comparison, width), *_plot(comparison, width, rows)]
    over = span(*comparison.by.range, comparison.clock)
    over += "" if comparison.clock == "step" else f", from {words.clock_source(comparison)}"
    foot = labeled("clock", f"{over}; {words.grouped(comparison)}", width, 2, style="dim")
    rest = _fitting(list(_rest(comparison, width)), height - len(top) - len(foot) - 1, width)
    lines = [*top, Text(), *(row for some in rest for row in some), *foot]
    return shown(lines, color=color, width=width)


def _fitting(items: list[list[Text]], room: int, width: int) -> list[list[Text]]:
    """Return the items that fit into so many lines, in their order, and a line that counts the others."""
    if sum(map(len, items)) <= room:
        return items
    kept: list[list[Text]] = []
    left = room - 1
    for one in items:
        if len(one) > left:
            break
        kept.append(one)
        left -= len(one)
    return [*kept, labeled("", more_of(len(items) - len(kept), "note"), width, style="dim")]


def _answer(comparison: Comparison, width: int) -> Iterator[Text]:
    told = words.answer(comparison)
    for number, says in enumerate(told[:ANSWERS]):
        style = "" if number else "bold"
        yield from labeled("" if number else "compare", says, width, SAYS["answer"], style=style)
    if len(told) > ANSWERS:
        yield from labeled("", more_of(len(told) - ANSWERS, "sentence"), width, style="dim")


def _table(comparison: Comparison, width: int) -> Iterator[Text]:
    """Lay out one row per group: its runs, the steps all of them reach, where it ends, its best, how it stands to the
    first. A single group is shown run by run."""
    by = comparison.by
    alone = len(by.standings) == 1
    rows, styles = [], []
    for place, one in enumerate(by.members if alone else by.standings):
        mark = MARKS[place] if place < len(MARKS) else ""
        against = "" if alone or not place else standing(comparison, one.name)
        rows.append((mark, line(one.name, LONGEST), str(len(one.runs)), *_reached(comparison, one), against))
        styles.append(_color(place))
    heads = ("", by.name, "runs", "steps", "final (80%)", "best", "" if alone else "against A")
    yield Text()
    shown = [heads, *rows[:MOST_ROWS]]
    yield from aligned(shown, width, spare=(5, 3, 2), styles=styles)  # what is missed least goes first
    if len(rows) > MOST_ROWS:
        yield from labeled("", more_of(len(rows) - MOST_ROWS), width, style="dim")


def _reached(comparison: Comparison, one: RunStanding) -> tuple[str, str, str]:
    """Return the steps, the final level, and the best one, as cells."""
    reach = sorted({run.last_step or 0 for run in comparison.runs if run.name in one.runs})
    best = f"{level(one.best)} at {amount(one.best_at, comparison.clock)}"
    return "-".join(map(str, reach[:1] + reach[1:][-1:])), interval(one.final, *one.interval), best


def _plot(comparison: Comparison, width: int, rows: int) -> Iterator[Text]:
    """Draw the middle of every group with its band; each line ends at the letter of its group."""
    by = comparison.by
    groups = by.standings[: len(MARKS)]
    if not rows or width < 2 * NARROWEST:
        return
    marks: list[Points | Area] = []
    for place, one in enumerate(groups):
        band = by.bands[one.name]
        marks.append(Area(by.grid, band.low, band.high, "dim"))
        marks.append(Points(by.grid, band.middle, _color(place), joined=True))
    room = width - MARGIN - 3
    about = frame(marks, width=room, height=rows)
    if about is None:
        return
    ends = about.down(np.array([by.bands[one.name].middle[-1] for one in groups]))
    fine = (about.values[1] - about.values[0]) / 1000 or 1.0  # digits follow the axis, not the value
    low, high = (axis_label(round(value / fine) * fine, MARGIN - 2) for value in about.values)
    yield Text()
    for row, text in enumerate(beside_axis(draw(marks, about), low, high, MARGIN)):
        for place in np.flatnonzero(np.round(ends) // DOWN == row).tolist()[:MOST_LETTERS]:
            text.append(MARKS[place], _color(place))
        yield text
    first, last = (amount(at, comparison.clock) for at in by.range)
    unit = {"step": "steps", "time": "time", "tokens": "tokens"}[comparison.clock]
    axis = f"{first}{f'{by.name} over {unit}':^{max(room - len(first) - len(last), 0)}}{last}"
    yield Text(f"{'':>{MARGIN}}{axis}", "dim")


def _rest(comparison: Comparison, width: int) -> Iterator[list[Text]]:
    """Yield everything below the plot, item by item, what matters most first."""
    most = SAYS["warning"]
    yield from _others(comparison, width)
    for one in comparison.left_out:
        yield labeled("left out", f"{one.name}: {one.why}", width, most, style="yellow")
    settings = [one for one in comparison.settings if one.marks_groups]
    if settings:
        told = [
            f"{one.name} {' / '.join(line(setting_values(values), 24) for values in one.values.values())}"
            for one in settings
        ]
        yield labeled("settings", differing_settings(told), width, 3)
    for caveat in comparison.warnings:
        yield labeled("warning", caveat.says, width, most, style="yellow")


def _others(comparison: Comparison, width: int) -> Iterator[list[Text]]:
    """Yield the further metrics: those that differ, by evidence, then those that do not."""
    told = [one for field in comparison.others for one in field.differences if one.told != "no"]
    told.sort(key=lambda one: one.chance)
    quiet = [field.name for field in comparison.others if not any(one.told != "no" for one in field.differences)]
    surest: dict[str, list[Difference]] = {}
    for one in told:
        surest.setdefault(one.series, []).append(one)
    listed = [also(pairs, comparison) for pairs in surest.values()]
    if quiet and len(comparison.groups) > 1:
        listed.append(not_told_apart(quiet))
    if listed:
        yield labeled("also", "; ".join(listed), width, SAYS["also"])


def _color(place: int) -> str:
    return palette.PHASES[place % len(palette.PHASES)].terminal


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
        "warnings": comparison.warnings,
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
