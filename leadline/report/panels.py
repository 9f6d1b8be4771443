"""Reward, held-out reward, and KL as small plots beside one another, each with its band, points, and forecast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from ..contract import Band, Reading
from ..digits import axis_label
from ..facts.sections import course_says
from ..records import dataclass, replace
from ..words.report import ABOUT_EVAL, ABOUT_KL, ABOUT_REWARD
from . import palette
from .braille import Area, Frame, Points, draw, frame
from .lines import MARGIN

GAP = 2  # columns between two panels
TIGHT = 12  # columns of dots: with fewer a panel says nothing
BRIEFLY = {ABOUT_EVAL: "eval", ABOUT_KL: "KL"}  # where there is little room
AHEAD = 1 / 3  # of what was seen: a small picture is for what happened


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One series to draw."""

    about: str  # ABOUT_REWARD, ABOUT_EVAL, ABOUT_KL
    says: str  # what it does, or is, in a few words
    color: str
    marks: Sequence[Points | Area]  # the band, and over it the points
    steps: tuple[float, float]  # the first and the last, forecast and all
    heights: tuple[float, float]  # the lowest and the highest value to show; a few stray points may lie beyond
    now: float | None  # the step after which the band is a forecast; None if it ends with what was seen


def pictures(reading: Reading) -> list[Picture]:
    """Return the plots that the run has, in the order to look at them."""
    others = {other.name: other for other in reading.reward.others}
    charts, found = reading.chart_data, []
    for name in charts.chart("reward"):
        if name not in others:
            found.append(_picture(reading, ABOUT_REWARD, name, reading.reward.caption))
        elif all(one.about == ABOUT_REWARD for one in found):  # the first of the held-out evals
            start, now, shape = others[name].start, others[name].now, others[name].shape
            says = "" if start is None or now is None else course_says(start, now, shape)
            found.append(_picture(reading, ABOUT_EVAL, name, says))
    if reading.kl_reward.state != "always_zero":
        found += [_picture(reading, ABOUT_KL, name, reading.kl_reward.caption) for name in charts.chart("kl")]
    return found


def _picture(reading: Reading, about: str, name: str, says: str) -> Picture:
    series, band = reading.chart_data.series[name], reading.chart_data.bands.get(name)
    color = palette.ROLES[palette.role(name)].terminal
    marks: list[Points | Area] = [Points(series.steps.astype(np.float64), series.values, color)]
    now, last = None, float(series.steps[-1])
    if band is not None:
        band = shortened(band, 0.0 if reading.judgement.ended is not None else AHEAD)  # nothing comes of what has ended
        marks.insert(0, Area(band.steps, band.low, band.high))
        now = float(band.steps[band.now]) if band.now < len(band.steps) - 1 else None
        last = max(last, float(band.steps[-1]))
    whole = frame(marks, width=1, height=1)
    assert whole is not None  # a picture is made of a series that holds numbers
    return Picture(about, says, color, marks, (float(series.steps[0]), last), whole.values, now)


def shortened(band: Band, ahead: float) -> Band:
    """Return the band up to `ahead` beyond now, as a share of what was seen."""
    now, first = float(band.steps[band.now]), float(band.steps[0])
    end = max(int(np.searchsorted(band.steps, now + ahead * (now - first), side="right")), band.now + 1)
    return replace(band, steps=band.steps[:end], low=band.low[:end], middle=band.middle[:end], high=band.high[:end])


def panels(reading: Reading, *, width: int, rows: int) -> list[Text]:
    """Return the pictures side by side over one clock: a caption, `rows` lines of plot and an axis. Those that do not
    fit in the width are left out, the last ones first."""
    drawn = pictures(reading) if rows else []
    while drawn:
        room = (width - GAP * (len(drawn) - 1)) // len(drawn)
        steps = min(one.steps[0] for one in drawn), max(one.steps[1] for one in drawn)
        made = [_panel(one, steps, room, rows, first=one is drawn[0]) for one in drawn]
        if all(one is not None for one in made):
            lines = list(zip(*(one for one in made if one is not None), strict=True))
            for part in (part for row in lines for part in row):
                part.pad_right(room - part.cell_len)
            return [Text(" " * GAP).join(row) for row in lines]
        drawn.pop()
    return []


def _panel(one: Picture, steps: tuple[float, float], room: int, rows: int, *, first: bool) -> list[Text] | None:
    """Return one picture in `room` columns; None if it is too little."""
    low, high = one.heights
    bottom, top = axis_label(low, MARGIN - 2), axis_label(high, MARGIN - 2)
    margin = MARGIN if first else max(len(top), len(bottom)) + 2
    if room - margin < TIGHT:
        return None
    plot = draw(one.marks, Frame(room - margin, rows, steps, one.heights), now=one.now)
    return [
        _caption(one, room, margin if first else 0),
        *beside_axis(plot, bottom, top, margin),
        _axis(one.now, steps, room, margin),
    ]


def beside_axis(plot: Sequence[Text], bottom: str, top: str, margin: int) -> list[Text]:
    """Return the lines of a plot beside their axis."""
    labels = [""] * len(plot)
    if top == bottom:
        labels[len(plot) // 2] = top
    else:
        labels[0], labels[-1] = top, bottom
    return [
        Text.assemble((f"{label:>{margin - 2}} {'┤' if label else '│'}", "dim"), line, end="")
        for label, line in zip(labels, plot, strict=True)
    ]


def _caption(one: Picture, room: int, margin: int) -> Text:
    about = one.about if cell_len(f"{one.about} {one.says}") <= room else BRIEFLY.get(one.about, one.about)
    fits = len(about) + 1 + cell_len(one.says) <= room
    says = one.says if fits else one.says.rpartition(", ")[0] or one.says  # its numbers are worth more than a word
    about = f"{about:<{margin}}" if margin and margin + cell_len(says) <= room else f"{about} "
    caption = Text.assemble((about, "dim"), (says, f"bold {one.color}"))
    caption.truncate(room, overflow="ellipsis")
    return caption


def _axis(now: float | None, steps: tuple[float, float], room: int, margin: int) -> Text:
    """Return the first and the last step; if the plot goes on beyond now, that instead of its end."""
    width = room - margin
    first, last = f"{steps[0]:.0f}", f"{steps[1]:.0f}" if now is None else ""
    line = [*first.ljust(width - len(last)), *last][:width]
    if now is not None and steps[1] > steps[0]:
        says = f"now {now:.0f}"
        place = round((now - steps[0]) / (steps[1] - steps[0]) * (width - 1)) - len(says) // 2
        place = min(place, width - len(says))
        if place > len(first):
            line[place : place + len(says)] = says
    return Text(f"{'':>{margin}}{''.join(line)}", "dim")
