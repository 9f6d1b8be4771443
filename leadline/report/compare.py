"""Several runs on one screen: which differs, a table, the judged series of every group over one clock, and the rest."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Sequence

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from ..facts.comparison import Comparison, Difference, RunStanding
from ..words import compare as words
from ..words.compare import amount, span
from ..words.compare_report import also, differing_settings, more_of, not_told_apart, permuted, standing
from ..words.numbers import interval, number
from . import palette
from .braille import DOWN, Area, Points, draw, frame
from .lines import MARGIN, NARROWEST, beside, shortened, shown, wrapped
from .plain import printable

HEIGHT = 40  # lines of a screen where there is none
PLOT = {34: 9, 28: 7, 22: 5}  # lines of plot on a screen of at least so many
MOST_ROWS = 12  # of the table on one screen
LONGEST = 32  # columns of a name: what is longer is cut in the middle, where names of runs differ least
ANSWERS = 4  # sentences before the table on one screen
SAYS = {"answer": 5, "also": 4, "warning": 2}  # lines a sentence may take on one screen
MARKS = string.ascii_uppercase
MOST_LETTERS = 3  # beside one row of the plot


def render(
    comparison: Comparison, *, color: bool = False, width: int = 100, verbose: bool = False, height: int = HEIGHT
) -> str:
    """A screenful, or with `verbose` all of it: every pair on every series, and every run."""
    width = max(width, NARROWEST)
    rows = next((rows for least, rows in PLOT.items() if height >= least), 0)
    top = [*_answer(comparison, width, verbose), *_table(comparison, width, verbose), *_plot(comparison, width, rows)]
    foot = _said("clock", f"{_clock(comparison)}; {words.grouped(comparison)}", width, "dim", None if verbose else 2)
    rest = list(_rest(comparison, width, verbose))
    if not verbose:
        rest = _fitting(rest, height - len(top) - len(foot) - 1, width)
    lines = [*top, Text(), *(line for some in rest for line in some), *foot]
    return shown(lines, color=color, width=width)


def _fitting(items: list[list[Text]], room: int, width: int) -> list[list[Text]]:
    """The items that fit into so many lines, in their order, and a line that counts the others."""
    if sum(map(len, items)) <= room:
        return items
    kept: list[list[Text]] = []
    left = room - 1
    for one in items:
        if len(one) > left:
            break
        kept.append(one)
        left -= len(one)
    return [*kept, _said("", more_of(len(items) - len(kept), "note"), width, "dim")]


def _said(name: str, says: str, width: int, style: str = "", most: int | None = None) -> list[Text]:
    room = width - MARGIN
    text = printable(says) if most is None else shortened(printable(says), room, most)
    return beside(name, wrapped(Text(text, style), room))


def _answer(comparison: Comparison, width: int, verbose: bool) -> Iterator[Text]:
    told = words.answer(comparison)
    shown = told if verbose else told[:ANSWERS]
    for number_, says in enumerate(shown):
        style = "" if number_ else "bold"
        yield from _said("" if number_ else "compare", says, width, style, None if verbose else SAYS["answer"])
    if len(told) > len(shown):
        yield from _said("", more_of(len(told) - len(shown), "sentence"), width, "dim")


def _table(comparison: Comparison, width: int, verbose: bool) -> Iterator[Text]:
    """One row a group: its runs, the steps all of them reach, where it ends, its best, how it stands to the first."""
    by, unit = comparison.by, comparison.clock
    alone = len(by.standings) == 1
    rows = by.members if alone else by.standings
    last = {one.name: one.last_step for one in comparison.runs}
    against = by.standings[0].name
    heads = ["", by.name, "runs", "steps", "final (80%)", "best", "" if alone else "against A"]
    cells = []
    for mark, one in _marked(rows):
        reach = sorted({str(last[run]) for run in one.runs}, key=int)
        steps = reach[0] if len(reach) == 1 else f"{reach[0]}-{reach[-1]}"
        final = interval(one.final, *one.interval)
        best = f"{number(one.best)} at {amount(one.best_at, unit)}"
        verdict = "" if alone or one.name == against else standing(comparison, against, one.name)
        cells.append([mark, _cut(one.name, LONGEST), str(len(one.runs)), steps, final, best, verdict])
        if verbose and len(one.runs) > 1:
            inside = [member for member in by.members if member.name in one.runs]
            for member in inside:
                final = interval(member.final, *member.interval)
                best = f"{number(member.best)} at {amount(member.best_at, unit)}"
                cells.append(["", f"  {_cut(member.name, LONGEST - 2)}", "", str(last[member.name]), final, best, ""])
    more = len(cells) - MOST_ROWS
    if more > 0 and not verbose:
        cells = cells[:MOST_ROWS]
    yield Text()
    yield from _laid_out(heads, cells, [one for one, _ in _marked(rows)], width)
    if more > 0 and not verbose:
        yield from _said("", more_of(more), width, "dim")


def _laid_out(heads: Sequence[str], cells: Sequence[Sequence[str]], marks: Sequence[str], width: int) -> Iterator[Text]:
    columns = [index for index in range(len(heads)) if heads[index] or any(row[index] for row in cells)]
    wide = {index: max(cell_len(row[index]) for row in (heads, *cells)) for index in columns}
    while sum(wide.values()) + 2 * (len(columns) - 1) > width and len(columns) > 4:
        columns.remove(next(index for index in (5, 3, 2, 6) if index in columns))  # what is missed least goes first
        wide = {index: wide[index] for index in columns}
    for row in (heads, *cells):
        line = Text()
        for index in columns:
            text = f"{row[index]:<{wide[index] - cell_len(row[index]) + len(row[index])}}  "
            mark = row[0] if row is not heads else ""
            line.append(text, "dim" if row is heads else _color(marks.index(mark)) if index == 0 and mark else "")
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
        yield line


def _plot(comparison: Comparison, width: int, rows: int) -> Iterator[Text]:
    """The middle of every group with its band; each line ends at the letter of its group."""
    by = comparison.by
    groups = [(mark, one) for mark, one in _marked(by.standings) if mark][: len(MARKS)]
    if not rows or width < 2 * NARROWEST:
        return
    marks: list[Points | Area] = []
    for place, (_, one) in enumerate(groups):
        band = by.bands[one.name]
        marks.append(Area(by.grid, band.low, band.high, "dim"))
        marks.append(Points(by.grid, band.middle, _color(place), joined=True))
    room = width - MARGIN - 3
    about = frame(marks, width=room, height=rows)
    if about is None:
        return
    ends = np.array([by.bands[one.name].middle[-1] for _, one in groups])
    places = (np.round(about.down(ends)) // DOWN).astype(int).tolist()
    letters = [
        "".join(mark for (mark, _), place in zip(groups, places, strict=True) if place == row) for row in range(rows)
    ]
    labels = [_label(about.values[1], about.values), *[""] * (rows - 2), _label(about.values[0], about.values)]
    yield Text()
    for row, (label, line) in enumerate(zip(labels, draw(marks, about), strict=True)):
        text = Text.assemble((f"{label:>{MARGIN - 2}} {'┤' if label else '│'}", "dim"), line)
        for mark in letters[row][:MOST_LETTERS]:
            text.append(mark, _color(MARKS.index(mark)))
        yield text
    first, last = (amount(at, comparison.clock) for at in by.range)
    unit = {"step": "steps", "time": "time", "tokens": "tokens"}[comparison.clock]
    axis = f"{first}{f'{by.name} over {unit}':^{max(room - len(first) - len(last), 0)}}{last}"
    yield Text(f"{'':>{MARGIN}}{axis}", "dim")


def _label(value: float, ends: tuple[float, float]) -> str:
    """A number beside an axis, as exact as the axis is.

    >>> _label(0.00024, (0.00024, 0.994)), _label(1234.5, (0.0, 1234.5)), _label(-3.14e-9, (-3.14e-9, 2e-9))
    ('0.0002', '1234', '-3e-09')
    """
    reach = ends[1] - ends[0]
    exact = round(value, 3 - math.floor(math.log10(reach))) if 0 < reach < math.inf else value
    written = (number(exact + 0.0), f"{exact:.2g}", f"{exact:.1e}", f"{exact:.0e}")
    return next((one for one in written if len(one) <= MARGIN - 2), written[-1])


def _rest(comparison: Comparison, width: int, verbose: bool) -> Iterator[list[Text]]:
    """Everything below the plot, one item after the other, what matters most first."""
    yield from _others(comparison, width, verbose)
    for one in comparison.left_out:
        yield _said(
            "left out", f"{one.name}: {words.left_out(one)}", width, "yellow", None if verbose else SAYS["warning"]
        )
    settings = [one for one in comparison.settings if one.marks_groups or verbose]
    if settings:
        told = [f"{one.name} {' / '.join(_values(values) for values in one.values.values())}" for one in settings]
        yield _said("settings", differing_settings(told, verbose=verbose), width, most=None if verbose else 3)
    for facts in comparison.warnings:
        yield _said(
            "warning", words.warning(facts, comparison.clock), width, "yellow", None if verbose else SAYS["warning"]
        )


def _clock(comparison: Comparison) -> str:
    over = span(*comparison.by.range, comparison.clock)
    return f"{over}" if comparison.clock == "step" else f"{over}, from {words.clock_source(comparison)}"


def _others(comparison: Comparison, width: int, verbose: bool) -> Iterator[list[Text]]:
    """Series beside the judged one: those that differ, by evidence, then those that do not."""
    told = [one for field in comparison.others for one in field.differences if one.told != "no"]
    told.sort(key=lambda one: one.chance)
    if verbose:
        pairs = [one for field in comparison.series for one in field.differences]
        for one in sorted(pairs, key=lambda one: one.chance):
            yield _said("pair", f"{words.difference(comparison, one)}{permuted(one)}", width)
        return
    quiet = [field.name for field in comparison.others if not any(one.told != "no" for one in field.differences)]
    surest: dict[str, list[Difference]] = {}
    for one in told:
        surest.setdefault(one.series, []).append(one)
    listed = [also(pairs, comparison) for pairs in surest.values()]
    if quiet and len(comparison.groups) > 1:
        listed.append(not_told_apart(quiet))
    if listed:
        yield _said("also", "; ".join(listed), width, most=SAYS["also"])


def _values(values: tuple[object, ...]) -> str:
    """What a group has; several where its runs do not agree."""
    return "|".join(dict.fromkeys("not set" if value is None else _cut(_plain(value), 24) for value in values))


def _plain(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _marked(standings: Sequence[RunStanding]) -> list[tuple[str, RunStanding]]:
    return [(MARKS[place] if place < len(MARKS) else "", one) for place, one in enumerate(standings)]


def _color(place: int) -> str:
    return palette.PHASES[place % len(palette.PHASES)].terminal


def _cut(text: str, room: int) -> str:
    """A name in at most so many columns: its middle is left out."""
    text = printable(text)
    if cell_len(text) <= room:
        return text
    half = (room - 1) // 2
    return f"{text[: room - 1 - half]}…{text[-half:]}"
