"""Reward, held-out reward and KL as small plots beside one another, and the regimes over the run as a strip."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from ..contract import Regime
from ..digits import axis_label, sure
from . import palette
from .braille import Frame, draw
from .lines import MARGIN
from .pictures import Picture, span

GAP = 2  # columns between two panels
TIGHT = 12  # columns of dots: with fewer a panel says nothing
ARROWS = {"rising": "↗", "stable": "→", "flat": "→", "falling": "↘", "declining": "↘"}


def panels(drawn: tuple[Picture, ...], *, width: int, rows: int) -> list[Text]:
    """Return the pictures side by side over one clock: a caption, `rows` lines of plot and an axis. Those that do not
    fit in the width are left out, the last ones first."""
    while drawn:
        room = (width - GAP * (len(drawn) - 1)) // len(drawn)
        made = [_panel(one, span(drawn), room, rows, first=one is drawn[0]) for one in drawn]
        if all(one is not None for one in made):
            lines = zip(*(one for one in made if one is not None), strict=True)
            return [_side_by_side(row, room) for row in lines]
        drawn = drawn[:-1]
    return []


def strip(segments: Sequence[Regime], width: int) -> Text | None:
    """Return the regimes over the run, each as long as it lasted and named where its name fits."""
    if not segments:
        return None
    first, last = segments[0].first_step, segments[-1].last_step
    ends = [round((one.last_step - first) / max(last - first, 1) * (width - 1)) for one in segments]
    strip, place = Text("│", "dim"), 0
    for one, end in zip(segments, [*ends[:-1], width - 1], strict=True):
        room = end - place - 1
        if room >= 0:
            said = one.regime not in palette.UNDECIDED_REGIMES
            style = f"bold {palette.REGIMES[one.regime].terminal}" if said else "dim"
            strip.append(_named(one, room, last=one is segments[-1]), style)
            strip.append("│", "dim")
            place = end
    return strip


def _panel(one: Picture, steps: tuple[float, float], room: int, rows: int, *, first: bool) -> list[Text] | None:
    """Return one picture in `room` columns; None where it is too little."""
    low, high = one.heights
    bottom, top = axis_label(low, MARGIN - 2), axis_label(high, MARGIN - 2)
    margin = MARGIN if first else max(len(top), len(bottom)) + 2
    if room - margin < TIGHT:
        return None
    plot = draw(one.marks(one.color.terminal), Frame(room - margin, rows, steps, (low, high)), now=one.now)
    labels = [""] * rows
    if top == bottom:
        labels[rows // 2] = top
    else:
        labels[0], labels[-1] = top, bottom
    body = [
        Text.assemble((f"{label:>{margin - 2}} {'┤' if label else '│'}", "dim"), line, end="")
        for label, line in zip(labels, plot, strict=True)
    ]
    return [_caption(one, room, margin if first else 0), *body, _axis(one, steps, room, margin)]


def _caption(one: Picture, room: int, margin: int) -> Text:
    about = one.about if cell_len(one.title) <= room else one.briefly
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


def _side_by_side(parts: Sequence[Text], room: int) -> Text:
    row = Text()
    for place, part in enumerate(parts):
        padded = part.copy()
        padded.pad_right(room - part.cell_len)
        row.append_text(padded if place == len(parts) - 1 else Text.assemble(padded, " " * GAP))
    return row


def _named(one: Regime, room: int, *, last: bool) -> str:
    kl, _, reward = one.regime.partition("/")
    if reward:
        first, second = ARROWS.get(kl, kl), ARROWS.get(reward, reward)
        names = [f" KL {kl}, reward {reward} ", f" KL {first} reward {second} ", f"{first}{second}"]
    else:
        names = [f" {one.regime} "]
    if last and one.first_step != one.last_step:
        names.insert(0, f"{names[0]}({sure(one.p)}) ")
    fits = next((name for name in names if cell_len(name) <= room), "")
    return fits.center(room, "─")
