"""Pictures as files: SVG, which needs no package, and PNG for chats and mails (extra `plots`)."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ..contract import Reading
from ..digits import number
from ..errors import MissingExtra, need
from ..records import dataclass
from . import palette
from .braille import scaled
from .files import make_folder, write_whole
from .pictures import FILES, Picture, pictures, span
from .plain import printable

Floats = NDArray[np.float64]

DOTS_PER_INCH = 144  # of a PNG, twice the size of the SVG in pixels: sharp on any screen
WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 28, 24  # room for numbers, and for the caption
TICKS = 4
FONT = "font-family='system-ui, sans-serif' font-size='12'"


def write_plots(reading: Reading, folder: Path) -> tuple[tuple[str, Path], ...]:
    """Draw reward, held-out reward and KL into `folder`. What each shows, and the file to link: the PNG where there is
    one, since chats show no SVG."""
    drawn = pictures(reading)
    make_folder(folder)
    made = []
    for one in drawn:
        file = folder / f"{FILES[one.about]}.svg"
        write_whole(file, svg(one, span(drawn)))
        try:
            png = as_png(one, span(drawn))
        except MissingExtra:
            pass
        else:
            file = file.with_suffix(".png")
            write_whole(file, png)
        made.append((one.title, file))
    return tuple(made)


def address(file: Path, seen_from: Path) -> str:
    """Return the link to a file as a page in the folder `seen_from` has to write it."""
    return quote(Path(os.path.relpath(file, seen_from)).as_posix())


@dataclass(frozen=True, slots=True)
class Paper:
    """The places of steps and values on the paper; beyond the ends is at the edge."""

    steps: tuple[float, float]
    values: tuple[float, float]

    def across(self, steps: Floats) -> Floats:
        return LEFT + np.clip(scaled(steps, self.steps, 1.0), 0.0, 1.0) * (WIDTH - LEFT - RIGHT)

    def down(self, values: Floats) -> Floats:
        return HEIGHT - BOTTOM - np.clip(scaled(values, self.values, 1.0), 0.0, 1.0) * (HEIGHT - TOP - BOTTOM)


def svg(one: Picture, steps: tuple[float, float]) -> str:
    """Return the picture over these steps: band, points, the middle of the band, and what is expected beyond now."""
    sheet = Paper(steps, one.heights)
    title = escape(printable(one.title))
    color = one.color.light
    steps_seen, values = one.dots
    places = zip(sheet.across(steps_seen).tolist(), sheet.down(values).tolist(), strict=True)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    return "\n".join(
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' "
            f"height='{HEIGHT}' role='img' aria-label='{title}'>",
            f"<rect width='{WIDTH}' height='{HEIGHT}' fill='{palette.GROUND.light}'/>",
            *_axes(sheet),
            *(_band(one, sheet, color)),
            # Every point as a dot of a line without length: short to write, and a spike stays a spike.
            f"<path d='{dots}' stroke='{color}' stroke-width='2.4' stroke-linecap='round' stroke-opacity='.55'/>",
            f"<text x='{LEFT}' y='17' {FONT} font-weight='600' fill='{color}'>{title}</text>",
            "</svg>\n",
        )
    )


def _axes(sheet: Paper) -> Iterable[str]:
    quiet = palette.QUIET.light
    for value in _ticks(*sheet.values):
        y = float(sheet.down(np.array([value]))[0])
        yield f"<path d='M{LEFT} {y:.1f}H{WIDTH - RIGHT}' stroke='{quiet}' stroke-opacity='.2'/>"
        yield f"<text x='{LEFT - 6}' y='{y + 4:.1f}' {FONT} fill='{quiet}' text-anchor='end'>{number(value)}</text>"
    for step, anchor in zip(sheet.steps, ("start", "end"), strict=True):
        x = float(sheet.across(np.array([step]))[0])
        yield (
            f"<text x='{x:.1f}' y='{HEIGHT - 7}' {FONT} fill='{quiet}' text-anchor='{anchor}'>"
            f"{'step ' if anchor == 'start' else ''}{step:.0f}</text>"
        )


def _band(one: Picture, sheet: Paper, color: str) -> Iterable[str]:
    band = one.band
    if band is None:
        return
    now = slice(0, band.now + 1), slice(band.now, len(band.steps))
    for part, opacity in zip(now, (0.3, 0.15), strict=True):
        across = sheet.across(band.steps[part])
        edge = _path(across, sheet.down(band.high[part]))
        back = _path(across[::-1], sheet.down(band.low[part])[::-1]).replace("M", "L", 1)
        yield f"<path d='{edge}{back}Z' fill='{color}' fill-opacity='{opacity}'/>"
    middle = _path(sheet.across(band.steps), sheet.down(band.middle))
    yield f"<path d='{middle}' fill='none' stroke='{color}' stroke-width='1.5'/>"
    if one.now is not None:
        x = float(sheet.across(np.array([one.now]))[0])
        yield (
            f"<path d='M{x:.1f} {TOP}V{HEIGHT - BOTTOM}' stroke='{palette.QUIET.light}' stroke-dasharray='3 3'/>"
            f"<text x='{x:.1f}' y='{HEIGHT - 7}' {FONT} fill='{palette.QUIET.light}' text-anchor='middle'>"
            f"now {one.now:.0f}</text>"
        )


def _path(across: Floats, down: Floats) -> str:
    places = " ".join(f"{x:.1f} {y:.1f}" for x, y in zip(across.tolist(), down.tolist(), strict=True))
    return f"M{places}"


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round numbers between the two.

    >>> _ticks(0.0, 1.0)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    rough = high / TICKS - low / TICKS
    if not rough > 0:
        return [low]
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next((unit * times for times in (1, 2, 2.5, 5) if unit * times >= rough), unit * 10)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12 - math.floor(math.log10(step))) for place in range(first, last + 1)][: 2 * TICKS]


def as_png(one: Picture, steps: tuple[float, float]) -> bytes:
    """Return the picture over these steps, as in the SVG. The same picture gives the same bytes."""
    canvas, figures = (
        need(f"matplotlib.{part}", extra="plots", to="draw PNG files (SVG needs nothing)")
        for part in ("backends.backend_agg", "figure")
    )
    figure = figures.Figure(
        figsize=(WIDTH / 72, HEIGHT / 72), dpi=DOTS_PER_INCH, layout="constrained", facecolor=palette.GROUND.light
    )
    axes, color, (low, high) = figure.subplots(), one.color.light, one.heights
    if one.band is not None:
        now = slice(0, one.band.now + 1), slice(one.band.now, len(one.band.steps))
        for part, opacity in zip(now, (0.3, 0.15), strict=True):
            axes.fill_between(
                one.band.steps[part],
                one.band.low[part],
                one.band.high[part],
                color=color,
                alpha=opacity,
                linewidth=0,
            )
        axes.plot(one.band.steps, one.band.middle, color=color, linewidth=1.5)
    seen, values = one.dots
    axes.plot(seen, np.clip(values, low, high), ".", color=color, alpha=0.55, markersize=3, markeredgewidth=0)
    if one.now is not None:
        axes.axvline(one.now, color=palette.QUIET.light, linestyle=(0, (3, 3)), linewidth=1)
    if high > low:
        axes.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    axes.set_xlim(*steps if steps[1] > steps[0] else (steps[0] - 1, steps[0] + 1))
    title = printable(one.title).replace("$", r"\$")
    axes.set_title(title, loc="left", color=color, fontsize=10, fontweight="bold")
    axes.tick_params(colors=palette.QUIET.light, labelsize=8, length=2)
    axes.grid(axis="y", alpha=0.2)
    for side in axes.spines.values():
        side.set_visible(False)
    file = io.BytesIO()
    canvas.FigureCanvasAgg(figure).print_png(file, metadata={"Software": None})
    return file.getvalue()
