"""Series, bands and which panel shows what, on one clock of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...contract import Band, Reading, Series
from ...facts.chart import Chart, ChartId, KlPath
from ...words.loss import pattern as loss_meaning
from ...words.numbers import capital
from ...words.report import (
    CHARTS,
    EXPLAINED,
    chart_is_empty,
    chart_title,
    kl_caption,
    loss_says,
    reward_caption,
)
from .. import palette
from ..numbers import short, thin
from ..pictures import shortened
from . import text

Data = dict[str, object]

ROOM = 140_000  # points of all series together: some 1.5 MB
MOST = 4_000  # points of one series: four a column of a wide screen
LEAST = 60  # points of one series, however many there are
WIDE: tuple[ChartId, ...] = ("reward", "judged", "kl")
NOTHING_LOGGED = tuple(Chart(chart) for chart in CHARTS)  # of a run that holds nothing to draw


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: what it shows, and why it is empty where it is."""

    id: str
    title: str
    names: tuple[str, ...]
    says: str = ""
    empty: str = ""
    wide: bool = False
    silent: str = ""  # why it carries no evidence here

    def data(self, called: Mapping[str, str]) -> Data:
        return {
            "id": self.id,
            "title": self.title,
            "names": [called[one] for one in self.names],
            "says": text.line(self.says),
            "empty": "" if self.names else self.empty,
            "wide": self.wide,
            "silent": text.line(self.silent),
        }


@dataclass(slots=True)
class Curves:
    """What can be drawn against the step."""

    called: dict[str, str] = field(default_factory=dict)  # series by name: what the page calls them
    panels: list[Data] = field(default_factory=list)
    clocks: list[list[int]] = field(default_factory=list)  # steps, each as its distance from the one before
    series: dict[str, Data] = field(default_factory=dict)
    bands: dict[str, Data] = field(default_factory=dict)
    span: tuple[float, float] | None = None  # the steps to show at first, forecast and all
    path: Data | None = None

    @classmethod
    def of(cls, reading: Reading) -> Curves:
        data = reading.chart_data
        called = _called(data.series)
        curves = cls(called, [panel.data(called) for panel in _panels(reading)])
        room = int(np.clip(ROOM // max(len(data.series), 1), LEAST, MOST))
        clocks: dict[bytes, int] = {}
        for series in data.series.values():
            if series.points:
                curves.series[called[series.name]] = curves._drawn(series, room, clocks)
        ended = reading.judgement.ended is not None  # what has ended has no rest to forecast
        bands = {name: shortened(band, 0.0) if ended else band for name, band in data.bands.items()}
        curves.bands = {called[name]: _band(band) for name, band in bands.items()}
        curves.span = _span(reading, bands.values())
        curves.path = _path(data.kl_path)
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
    """Short names that stay apart, however long those of the log are."""
    called: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        short = text.name(name)
        if short in taken:
            short = f"{short} ({len(taken)})"
        taken.add(short)
        called[name] = short
    return called


def _panels(reading: Reading) -> tuple[Panel, ...]:
    """The charts in the order to look at them; the rest is shown on demand."""
    data, loss = reading.chart_data, reading.policy_loss
    says = {
        "reward": capital(reward_caption(reading)),
        "kl": capital(kl_caption(reading)),
        "loss": loss_says(reading) if loss.informative else "",
        **EXPLAINED,
    }
    return tuple(
        Panel(
            chart.id,
            chart_title(data, chart.id),
            chart.series,
            says.get(chart.id, ""),
            chart_is_empty(data, chart.id),
            wide=chart.id in WIDE,
            silent=loss_meaning(loss) if chart.id == "loss" and not loss.informative else "",
        )
        for chart in data.charts or NOTHING_LOGGED
        if chart.series or chart.id != "judged"  # shown where no other panel shows it
    )


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


def _path(path: KlPath | None) -> Data | None:
    """Reward against the distance from the reference."""
    if path is None:
        return None
    return {
        "steps": short(path.steps),
        "distance": short(path.distance),
        "kl": short(path.kl),
        "reward": short(path.reward),
    }
