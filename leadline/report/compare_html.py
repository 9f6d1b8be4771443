"""A comparison as one self-contained HTML file: what differs, every metric of every group, what may be the cause."""

from __future__ import annotations

from typing import Any

from ..digits import interval, number, short
from ..facts.comparison import Compared, Comparison
from ..words import compare as words
from ..words.compare import APART, moment, setting_values, standing
from . import palette
from .data import plain
from .html.page import assemble
from .html.text import safe
from .plain import line

INSIDE = "static/compare.html"
SCRIPTS = ("static/base.js", "static/clock.js", "static/charts.js", "static/frame.js", "static/compare.js")
MINUTE = 60.0


def page(comparison: Comparison) -> str:
    """Return the whole page. The same comparison gives the same bytes."""
    return assemble(payload(comparison), title=" and ".join(comparison.groups), inside=INSIDE, scripts=SCRIPTS)


def payload(comparison: Comparison) -> Any:
    """Return the data of the page. All text in it is safe to show as text."""
    ticks = MINUTE if comparison.clock == "time" else 1.0  # a clock of minutes can be read off an axis
    first = min(float(one.grid[0]) for one in comparison.series) / ticks
    last = max(float(one.grid[-1]) for one in comparison.series) / ticks
    groups = list(comparison.groups)
    return safe(
        {
            "unit": {"step": "step", "time": "minutes", "tokens": "tokens"}[comparison.clock],
            "span": [first, last],
            "marks": {"now": None, "beside": [], "events": [], "checkpoints": [], "peak": None, "best": None},
            "headline": words.headline(comparison),
            "says": words.answer(comparison),
            "by": comparison.by.name,
            "groups": [_group(comparison, group, place) for place, group in enumerate(groups)],
            "charts": [_chart(comparison, one, groups, ticks) for one in comparison.series],
            "settings": [
                {
                    "name": one.name,
                    "marks": one.marks_groups,
                    "values": [line(setting_values(one.values.get(group, ()), " | "), 200) for group in groups],
                }
                for one in comparison.settings
            ],
            "warnings": [one.says for one in comparison.warnings],
            "left_out": plain(comparison.left_out),
            "grouped": words.grouped(comparison),
            "clock": "" if comparison.clock == "step" else words.clock_source(comparison),
            "runs": plain(comparison.runs),
        }
    )


def _group(comparison: Comparison, group: str, place: int) -> dict[str, object]:
    by = comparison.by
    one = next(one for one in by.standings if one.name == group)
    return {
        "name": group,
        "colour": f"phase-{place % len(palette.PHASES)}",
        "runs": len(one.runs),
        "final": interval(one.final, *one.interval),
        "best": f"{number(one.best)} at {moment(one.best_at, comparison.clock)}",
        "verdict": standing(comparison, group),
    }


def _chart(comparison: Comparison, one: Compared, groups: list[str], ticks: float) -> dict[str, object]:
    return {
        "name": one.name,
        "x": short(one.grid / ticks),
        "bands": [plain(one.bands[group]) for group in groups],
        "runs": [
            {"group": place, "y": short(one.middles[run])}
            for place, group in enumerate(groups)
            for run in comparison.groups[group]
            if len(comparison.groups[group]) > 1
        ],
        "pairs": [
            {
                "told": pair.told,
                "word": APART[pair.told],
                "seeds": pair.beyond_seeds,
                "says": words.difference(comparison, pair),
                "sure": None if pair.sure_from is None else pair.sure_from / ticks,
            }
            for pair in sorted(one.differences, key=lambda pair: pair.chance)
        ],
    }
