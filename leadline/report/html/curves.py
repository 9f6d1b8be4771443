"""Series, bands, phases, and which panel shows what, on one clock of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ...contract import Band, Reading
from ...digits import capital, short
from ...facts.chart import Chart, ChartId
from ...words.report import CHARTS, EXPLAINED, SMALL_PHASES, chart_is_empty, chart_title
from .. import palette
from ..data import plain
from ..panels import shortened
from ..plain import name as plain_name

Data = dict[str, object]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]

ROOM = 140_000  # points of all series together: some 1.5 MB
MOST = 4_000  # points of one series: four a column of a wide screen
LEAST = 60  # points of one series, however many there are
STACK = 2_000  # steps of the stack of phases
CORNERS = 4  # points a column of a chart: first, lowest, highest, last
GAPS = 2  # more if something is missing: the first and the last hole
WIDE: tuple[ChartId, ...] = ("reward", "judged", "kl")
NOTHING_LOGGED = tuple(Chart(chart) for chart in CHARTS)  # of a run that holds nothing to draw


def curves(reading: Reading, called: Mapping[str, str]) -> Data:
    """Return the series to draw against the step, their bands, and the panels that show them. `called`: what each
    series is called on the page."""
    data, ended = reading.chart_data, reading.judgement.ended is not None  # what has ended has no rest to forecast
    bands = {called[name]: shortened(band, 0.0) if ended else band for name, band in data.bands.items()}
    room = int(np.clip(ROOM // max(len(data.series), 1), LEAST, MOST))
    clocks: dict[bytes, tuple[int, list[int]]] = {}  # steps, each as its distance from the one before
    drawn = {}
    for series in data.series.values():
        if series.points:
            kept = thin(series.steps, series.values, room)
            steps = series.steps[kept]
            clock, _ = clocks.setdefault(steps.tobytes(), (len(clocks), np.diff(steps, prepend=0).tolist()))
            drawn[called[series.name]] = {
                "key": series.key,
                "kind": series.kind,
                "role": palette.role(series.name),
                "points": series.points,
                "clock": clock,
                "y": short(series.values[kept]),
            }
    return {
        "panels": _panels(reading, called),
        "clocks": [distances for _, distances in clocks.values()],
        "series": drawn,
        "bands": plain(bands),
        "span": _span(reading, bands.values()),
    }


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return short names that stay apart, however long those of the log are."""
    called: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        short = plain_name(name)
        if short in taken:
            short = plain_name(f"({len(taken)}) {name}")  # no longer than the others: it is never cut again
        taken.add(short)
        called[name] = short
    return called


def _panels(reading: Reading, called: Mapping[str, str]) -> list[Data]:
    """Return the charts in the order to look at them; the rest is shown on demand."""
    data, loss = reading.chart_data, reading.policy_loss
    says = {
        "reward": capital(reading.reward.caption),
        "kl": capital(reading.kl_reward.caption),
        "loss": f"{loss.pattern.replace('_', ' ')}: {loss.say()}" if loss.informative else "",
        **EXPLAINED,
    }
    return [
        {
            "id": chart.id,
            "title": chart_title(data, chart.id),
            "names": [called[one] for one in chart.series],
            "says": says.get(chart.id, ""),
            "empty": "" if chart.series else chart_is_empty(data, chart.id),
            "wide": chart.id in WIDE,
            # why it carries no evidence here
            "silent": loss.say() if chart.id == "loss" and not loss.informative else "",
        }
        for chart in data.charts or NOTHING_LOGGED
        if chart.series or chart.id != "judged"  # shown where no other panel shows it
    ]


def _span(reading: Reading, bands: Iterable[Band]) -> tuple[float, float] | None:
    """Return the steps to show at first, forecast and all."""
    first, last = reading.run.first_step, reading.run.last_step
    if first is None or last is None:
        return None
    end = max((float(band.steps[-1]) for band in bands), default=float(last))
    return float(first), max(float(last), end)


def machine(reading: Reading) -> Data:
    """Return the stack of phases and the power, as far as the run shows them, with what was said of them."""
    used, drawn = reading.resources, reading.chart_data.machine
    data: Data = {
        "notes": [remark.say() for remark in used.remarks],
        "uses": [{"name": name, **plain(use)} for name, use in used.phases.items()],
        "bottleneck": used.bottleneck,
        "steps": [],
        "phases": [],
        "power": None,
    }
    if len(drawn.steps):
        kept = thin(drawn.steps, drawn.step_seconds, STACK)
        data["steps"] = drawn.steps[kept].tolist()
        data["phases"] = [
            {"name": phase.name or SMALL_PHASES, "seconds": short(phase.seconds[kept])} for phase in drawn.phases
        ]
        data["whole"] = short(drawn.step_seconds[kept])
    if len(drawn.power_steps):
        kept = thin(drawn.power_steps, drawn.power_w, STACK)
        data["power"] = {"steps": drawn.power_steps[kept].tolist(), "watts": short(drawn.power_w[kept])}
    return data


def thin(steps: NDArray[np.integer], values: Floats, room: int) -> Places:
    """Return the points to draw: all where there is room; else of every column of the chart the first, the lowest, the
    highest and the last, and where a gap begins and ends. A spike of one point is the highest of its column."""
    count = len(steps)
    if count <= room:
        return np.arange(count)
    finite = np.isfinite(values)
    columns = max(room // (CORNERS if finite.all() else CORNERS + GAPS), 1)
    span = float(steps[-1] - steps[0])
    column = np.minimum(((steps - steps[0]) * (columns / span)).astype(np.intp), columns - 1)
    kept = [np.zeros(1, dtype=np.intp), np.full(1, count - 1, dtype=np.intp)]
    kept += _first_and_last(column, np.arange(count), np.arange(count))
    for some in (finite, ~finite):
        places = np.flatnonzero(some)
        if len(places):
            rank = values[places] if some is finite else places
            kept += _first_and_last(column[places], rank, places)
    return np.unique(np.concatenate(kept))


def _first_and_last(column: Places, rank: NDArray[np.generic], places: Places) -> list[Places]:
    """Return of each column the places that rank lowest and highest."""
    order = np.lexsort((rank, column))
    begins = np.flatnonzero(np.diff(column[order], prepend=-1))
    ends = np.append(begins[1:], len(order)) - 1
    return [places[order[begins]], places[order[ends]]]
