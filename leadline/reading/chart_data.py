"""What reports draw of a run: which series stand in which chart, their bands, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..facts.chart import Chart, ChartData, ChartId, KlPath, MachineByStep, Neighbour, PhaseSeconds
from ..facts.machine import Conflict
from ..run import REWARD, Band, Run, Series, no_numbers, no_values
from ..text.shown import shown_samples
from .kl import distance_series
from .machine import Spent, power_by_step, time_spent
from .view import View
from .wall_clock import step_times
from .whole import evidence_of

Wanted = Literal["none", "main", "all"]

HELD_OUT = 2  # held-out scores in the chart of the reward
PHASES = 7  # phases that are told apart; the rest is put together
MAIN: tuple[ChartId, ...] = ("reward", "kl")  # what every report draws
# The first of these that holds a number is what the chart shows.
SERIES: dict[ChartId, tuple[str, ...]] = {
    "kl": ("kl/ref", "kl/ref_seq_sum"),
    "loss": ("loss/policy", "loss/total"),
    "grad_norm": ("grad_norm",),
    "length": ("len/response_mean",),
    "entropy": ("entropy",),
    "diversity": ("text/alike",),
    "coherence": ("text/looped",),
}


def chart_data(
    view: View, *, held_out: Sequence[str], judged: str | None, conflicts: Sequence[Conflict], wanted: Wanted
) -> ChartData:
    """Return what there is to draw. `held_out` are the held-out scores by their place, `judged` the series that the
    verdict rests on. "main": reward, held-out reward and KL alone, for a screen or an alert; "none": for a row of a
    table."""
    if wanted == "none":
        return ChartData()
    relation = evidence_of(view.whole).relation
    measures = [
        Series(name := f"text/{way}", name, "samples", track.steps, track.values)
        for way, track in ({} if relation is None else relation.tracks).items()
    ]
    series = {found.name: found for found in (*view.run.unread, *measures, *view.run.series)}
    numbers = {name for name, found in series.items() if found.finite.any()}
    charts = _charts(numbers, held_out, judged)
    drawn = [name for chart in charts if wanted == "all" or chart.id in MAIN for name in chart.series]
    bands = {name: band for name in drawn if (band := band_for(view, series[name])) is not None}
    derived = tuple(found.name for found in measures)
    if wanted == "main":
        return ChartData(charts, bands, series=series, derived=derived)
    return ChartData(
        charts,
        bands,
        _kl_path(view, bands.get(REWARD)),
        shown_samples(view.whole.batches, kept=bool(view.run.rollouts)),
        _machine(view.run),
        _neighbours(view.run, conflicts),
        series,
        derived,
    )


def band_for(view: View, series: Series) -> Band | None:
    """Return the band of any series over the whole run; None if it holds too little to fit."""
    drawn = view.whole.of(series)
    return None if drawn is None else drawn.band


def _charts(numbers: set[str], held_out: Sequence[str], judged: str | None) -> tuple[Chart, ...]:
    """Return the charts in the order to look at them."""
    ranked = sorted((name for name in held_out if name in numbers), key=lambda name: name != judged)
    reward = (*(name for name in (REWARD,) if name in numbers), *ranked[:HELD_OUT])
    apart = (judged,) if judged is not None and judged in numbers and judged not in reward else ()
    others = (Chart(chart, tuple(name for name in names if name in numbers)[:1]) for chart, names in SERIES.items())
    return (Chart("reward", reward), Chart("judged", apart), *others)


def _kl_path(view: View, reward: Band | None) -> KlPath | None:
    series = distance_series(view.run)
    away = None if series is None else band_for(view, series)
    if away is None or reward is None:
        return None
    steps = reward.steps[: reward.now + 1]
    steps = steps[(steps >= away.steps[0]) & (steps <= away.steps[away.now])]
    if len(steps) < 2:
        return None
    kl = np.interp(steps, away.steps, away.middle)
    return KlPath(steps, kl, np.sqrt(np.maximum(kl, 0.0)), np.interp(steps, reward.steps, reward.middle))


def _machine(run: Run) -> MachineByStep:
    (spent, whole), power = time_spent(run), power_by_step(run) or Spent(no_numbers(), no_values())
    if whole is None:  # nothing is told apart; a whole step may still be timed
        logged = run.get("time/step")
        whole = Spent(no_numbers(), no_values()) if logged is None else Spent(logged.steps, logged.values)
    ranked = sorted(spent, key=lambda name: (-float(spent[name].values.sum()), name))
    phases = [PhaseSeconds(name, spent[name].at(whole.steps)) for name in ranked[:PHASES]]
    if ranked[PHASES:]:
        rest = np.sum([spent[name].at(whole.steps) for name in ranked[PHASES:]], axis=0)
        phases.append(PhaseSeconds(None, rest))
    return MachineByStep(whole.steps, whole.values, tuple(phases), power.steps, power.values)


def _neighbours(run: Run, conflicts: Sequence[Conflict]) -> tuple[Neighbour, ...]:
    times = step_times(run)
    if times is None:
        return ()
    return tuple(
        Neighbour(found.process, found.did, found.p, times.step_at(found.first_wall), times.step_at(found.last_wall))
        for found in conflicts
    )
