"""Reward, held-out reward, and KL as small plots beside one another."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from ..digits import axis_label
from .braille import Frame, draw
from .lines import MARGIN
from .pictures import BRIEFLY, Picture, span

GAP = 2  # columns between two panels
TIGHT = 12  # columns of dots: with fewer a panel says nothing


def panels(drawn: tuple[Picture, ...], *, width: int, rows: int) -> list[Text]:
    """Return the pictures side by side over one clock: a caption, `rows` lines of plot and an axis. Those that do not
    fit in the width are left out, the last ones first."""
    while drawn:
        room = (width - GAP * (len(drawn) - 1)) // len(drawn)
        made = [_panel(one, span(drawn), room, rows, first=one is drawn[0]) for one in drawn]
        if all(one is not None for one in made):
            lines = list(zip(*(one for one in made if one is not None), strict=True))
            for part in (part for row in lines for part in row):
                part.pad_right(room - part.cell_len)
            return [Text(" " * GAP).join(row) for row in lines]
        drawn = drawn[:-1]
    return []


def _panel(one: Picture, steps: tuple[float, float], room: int, rows: int, *, first: bool) -> list[Text] | None:
    """Return one picture in `room` columns; None if it is too little."""
    low, high = one.heights
    bottom, top = axis_label(low, MARGIN - 2), axis_label(high, MARGIN - 2)
    margin = MARGIN if first else max(len(top), len(bottom)) + 2
    if room - margin < TIGHT:
        return None
    plot = draw(one.marks(one.color.terminal), Frame(room - margin, rows, steps, (low, high)), now=one.now)
    body = beside_axis(plot, bottom, top, margin)
    return [_caption(one, room, margin if first else 0), *body, _axis(one, steps, room, margin)]


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
    about = one.about if cell_len(one.title) <= room else BRIEFLY.get(one.about, one.about)
    fits = len(about) + 1 + cell_len(one.says) <= room
    says = one.says if fits else one.says.rpartition(", ")[0] or one.says  # its numbers are worth more than a word
    about = f"{about:<{margin}}" if margin and margin + cell_len(says) <= room else f"{about} "
    caption = Text.assemble((about, "dim"), (says, f"bold {one.color.terminal}"))
    caption.truncate(room, overflow="ellipsis")
    return caption


def _axis(one: Picture, steps: tuple[float, float], room: int, margin: int) -> Text:
    """Return the first and the last step; if the plot goes on beyond now, that instead of its end."""
    width = room - margin
    first, last = f"{steps[0]:.0f}", f"{steps[1]:.0f}" if one.now is None else ""
    line = [*first.ljust(width - len(last)), *last][:width]
    if one.now is not None and steps[1] > steps[0]:
        now = f"now {one.now:.0f}"
        place = round((one.now - steps[0]) / (steps[1] - steps[0]) * (width - 1)) - len(now) // 2
        place = min(place, width - len(now))
        if place > len(first):
            line[place : place + len(now)] = now
    return Text(f"{'':>{margin}}{''.join(line)}", "dim")
