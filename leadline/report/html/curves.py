"""Series, bands, phases, and which panel shows what, on one clock of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...contract import Band, Reading, Series
from ...digits import capital, short
from ...facts.chart import Chart, ChartId
from ...records import dataclass, field
from ...words.report import CHARTS, EXPLAINED, SMALL_PHASES, chart_is_empty, chart_title
from .. import palette
from ..pictures import shortened, thin
from . import text

Data = dict[str, object]

ROOM = 140_000  # points of all series together: some 1.5 MB
MOST = 4_000  # points of one series: four a column of a wide screen
LEAST = 60  # points of one series, however many there are
STACK = 2_000  # steps of the stack of phases
WIDE: tuple[ChartId, ...] = ("reward", "judged", "kl")
NOTHING_LOGGED = tuple(Chart(chart) for chart in CHARTS)  # of a run that holds nothing to draw


@dataclass(slots=True)
class Curves:
    """Series to draw against the step."""

    called: dict[str, str] = field(default_factory=dict)  # series by name: what the page calls them
    panels: list[Data] = field(default_factory=list)
    clocks: list[list[int]] = field(default_factory=list)  # steps, each as its distance from the one before
    series: dict[str, Data] = field(default_factory=dict)
    bands: dict[str, Data] = field(default_factory=dict)
    span: tuple[float, float] | None = None  # the steps to show at first, forecast and all

    @classmethod
    def of(cls, reading: Reading) -> Curves:
        data = reading.chart_data
        called = _called(data.series)
        curves = cls(called, _panels(reading, called))
        room = int(np.clip(ROOM // max(len(data.series), 1), LEAST, MOST))
        clocks: dict[bytes, int] = {}
        for series in data.series.values():
            if series.points:
                curves.series[called[series.name]] = curves._drawn(series, room, clocks)
        ended = reading.judgement.ended is not None  # what has ended has no rest to forecast
        bands = {name: shortened(band, 0.0) if ended else band for name, band in data.bands.items()}
        curves.bands = {called[name]: _band(band) for name, band in bands.items()}
        curves.span = _span(reading, bands.values())
        return curves

    def _drawn(self, series: Series, room: int, clocks: dict[bytes, int]) -> Data:
        kept = thin(series.steps, series.values, room)
        steps = series.steps[kept]
        clock = clocks.setdefault(steps.tobytes(), len(clocks))
        if clock == len(self.clocks):
            self.clocks.append(np.diff(steps, prepend=0).tolist())
        return {
            "key": text.name(series.key),
            "kind": text.name(series.kind),
            "role": palette.role(series.name),
            "points": series.points,
            "clock": clock,
            "y": short(series.values[kept]),
        }


def _called(names: Iterable[str]) -> dict[str, str]:
    """Return short names that stay apart, however long those of the log are."""
    called: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        short = text.name(name)
        if short in taken:
            short = f"{short} ({len(taken)})"
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
            "says": text.line(says.get(chart.id, "")),
            "empty": "" if chart.series else chart_is_empty(data, chart.id),
            "wide": chart.id in WIDE,
            # why it carries no evidence here
            "silent": text.line(loss.say()) if chart.id == "loss" and not loss.informative else "",
        }
        for chart in data.charts or NOTHING_LOGGED
        if chart.series or chart.id != "judged"  # shown where no other panel shows it
    ]


def _band(band: Band) -> Data:
    return {
        "x": short(band.steps),
        "low": short(band.low),
        "middle": short(band.middle),
        "high": short(band.high),
        "now": band.now,
    }


def _span(reading: Reading, bands: Iterable[Band]) -> tuple[float, float] | None:
    first, last = reading.run.first_step, reading.run.last_step
    if first is None or last is None:
        return None
    end = max((float(band.steps[-1]) for band in bands), default=float(last))
    return float(first), max(float(last), end)


def machine(reading: Reading) -> Data:
    """Return the stack of phases and the power, as far as the run shows them, with what was said of them."""
    used, drawn = reading.resources, reading.chart_data.machine
    data: Data = {
        "notes": [text.line(remark.say()) for remark in used.remarks],
        "uses": [
            {"name": text.name(name), "share": use.share, "power": use.power_w, "memory": use.memory_gb}
            for name, use in used.phases.items()
        ],
        "bottleneck": None if used.bottleneck is None else text.name(used.bottleneck),
        "steps": [],
        "phases": [],
        "power": None,
    }
    if len(drawn.steps):
        kept = thin(drawn.steps, drawn.step_seconds, STACK)
        data["steps"] = drawn.steps[kept].tolist()
        data["phases"] = [
            {"name": text.name(phase.name or SMALL_PHASES), "seconds": short(phase.seconds[kept])}
            for phase in drawn.phases
        ]
        data["whole"] = short(drawn.step_seconds[kept])
    if len(drawn.power_steps):
        kept = thin(drawn.power_steps, drawn.power_w, STACK)
        data["power"] = {"steps": drawn.power_steps[kept].tolist(), "watts": short(drawn.power_w[kept])}
    return data
