"""A comparison as one self-contained HTML file: what differs, every metric of every group, what may be the cause."""

from __future__ import annotations

from ..digits import interval, number, short
from ..facts.comparison import Compared, Comparison
from ..words import compare as words
from ..words.compare import APART, moment, setting_values, standing
from . import palette
from .html.page import assemble
from .html.text import line, name

INSIDE = "static/compare.html"
SCRIPTS = ("static/base.js", "static/clock.js", "static/charts.js", "static/frame.js", "static/compare.js")
MINUTE = 60.0


def page(comparison: Comparison) -> str:
    """Return the whole page. The same comparison gives the same bytes."""
    return assemble(payload(comparison), title=" and ".join(comparison.groups), inside=INSIDE, scripts=SCRIPTS)


def payload(comparison: Comparison) -> dict[str, object]:
    """Return the data of the page. All text in it is safe to show as text."""
    ticks = MINUTE if comparison.clock == "time" else 1.0  # a clock of minutes can be read off an axis
    first = min(float(one.grid[0]) for one in comparison.series) / ticks
    last = max(float(one.grid[-1]) for one in comparison.series) / ticks
    groups = list(comparison.groups)
    return {
        "unit": {"step": "step", "time": "minutes", "tokens": "tokens"}[comparison.clock],
        "span": [first, last],
        "marks": {"now": None, "beside": [], "events": [], "checkpoints": [], "peak": None, "best": None},
        "headline": line(words.headline(comparison), 200),
        "says": [line(said) for said in words.answer(comparison)],
        "by": name(comparison.by.name),
        "groups": [_group(comparison, group, place) for place, group in enumerate(groups)],
        "charts": [_chart(comparison, one, groups, ticks) for one in comparison.series],
        "settings": [
            {
                "name": name(one.name),
                "marks": one.marks_groups,
                "values": [line(setting_values(one.values.get(group, ()), " | "), 200) for group in groups],
            }
            for one in comparison.settings
        ],
        "warnings": [line(one.says) for one in comparison.warnings],
        "left_out": [line(f"{run.name}: {run.why}") for run in comparison.left_out],
        "grouped": line(words.grouped(comparison)),
        "clock": "" if comparison.clock == "step" else line(words.clock_source(comparison)),
        "runs": [
            [*map(name, (one.name, one.group)), line(one.path, 300), name(one.framework or "unknown"), *steps]
            for one in comparison.runs
            for steps in [(one.first_step, one.last_step)]
        ],
    }


def _group(comparison: Comparison, group: str, place: int) -> dict[str, object]:
    by = comparison.by
    one = next(one for one in by.standings if one.name == group)
    return {
        "name": name(group),
        "colour": f"phase-{place % len(palette.PHASES)}",
        "runs": len(one.runs),
        "final": interval(one.final, *one.interval),
        "best": f"{number(one.best)} at {moment(one.best_at, comparison.clock)}",
        "verdict": standing(comparison, group),
    }


def _chart(comparison: Comparison, one: Compared, groups: list[str], ticks: float) -> dict[str, object]:
    bands = [{key: short(getattr(one.bands[group], key)) for key in ("low", "middle", "high")} for group in groups]
    members = [
        {"group": place, "name": name(run), "y": short(one.middles[run])}
        for place, group in enumerate(groups)
        for run in comparison.groups[group]
        if len(comparison.groups[group]) > 1
    ]
    return {
        "name": name(one.name),
        "keys": [name(key) for key in one.keys],
        "x": short(one.grid / ticks),
        "bands": bands,
        "runs": members,
        "pairs": [
            {
                "groups": [groups.index(pair.first), groups.index(pair.second)],
                "told": pair.told,
                "word": APART[pair.told],
                "seeds": pair.beyond_seeds,
                "says": line(words.difference(comparison, pair)),
                "sure": None if pair.sure_from is None else pair.sure_from / ticks,
            }
            for pair in sorted(one.differences, key=lambda pair: pair.chance)
        ],
    }
