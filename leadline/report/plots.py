"""The reward as a picture for chats, mails, and alerts (extra `plots`)."""

from __future__ import annotations

import io

import numpy as np

from ..contract import Reading
from ..errors import MissingExtra, need
from . import palette
from .pictures import pictures, span
from .plain import printable

WIDTH, HEIGHT = 1280, 440  # pixels
DOTS_PER_INCH = 144  # sharp on any screen


def png(reading: Reading) -> bytes | None:
    """Return the reward: band, points, the middle of the band, and what is expected beyond now. None if there is none
    to draw, or no package to draw with. The same reading gives the same bytes."""
    drawn = pictures(reading)[:1]
    try:
        canvas, figures = (
            need(f"matplotlib.{part}", extra="plots", to="draw pictures") for part in ("backends.backend_agg", "figure")
        )
    except MissingExtra:
        return None
    if not drawn:
        return None
    one, steps = drawn[0], span(drawn)
    figure = figures.Figure(
        figsize=(WIDTH / DOTS_PER_INCH, HEIGHT / DOTS_PER_INCH),
        dpi=DOTS_PER_INCH,
        layout="constrained",
        facecolor=palette.GROUND.light,
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
