"""A picture as PNG, for places that show nothing else: chats, mails, alerts. Needs the extra `plots`."""

from __future__ import annotations

import io

import numpy as np

from ..contract import Reading
from ..errors import MissingExtra, need
from . import palette
from .numbers import thin
from .pictures import Picture, pictures, span
from .plain import printable
from .svg import HEIGHT, MOST, WIDTH

DOTS_PER_INCH = 144  # twice the size of the SVG in pixels: sharp on any screen


def png(reading: Reading) -> bytes | None:
    """The reward with its band as a small PNG; None where there is none to draw, or no package to draw it with."""
    drawn = pictures(reading)
    if not drawn:
        return None
    try:
        return as_png(drawn[0], span(drawn[:1]))
    except MissingExtra:
        return None


def as_png(one: Picture, steps: tuple[float, float]) -> bytes:
    """The picture over these steps, as in the SVG. The same picture gives the same bytes."""
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
    kept = thin(one.series.steps, one.series.values, MOST)
    kept = kept[np.isfinite(one.series.values[kept])]
    values = np.clip(one.series.values[kept], low, high)
    axes.plot(one.series.steps[kept], values, ".", color=color, alpha=0.55, markersize=3, markeredgewidth=0)
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
