"""Doubts about the figures of bench/backtest.py, each as a table: how much of a public run's loss is the edge of the
score's own smoothing, and whether the two bars of the verdict were chosen on the runs they are shown for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tables import Table

from leadline.judgement.decide import GO_ON, STOP

Line = dict[str, Any]
Given = dict[str, list[Line]]

EDGE = 0.03  # share of the run: there a local line has points on one side only, and about twice the error
SMOOTHED = "smoothed"
BARS = sorted({STOP, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.2, 0.25, 0.3})
LASTING = sorted({STOP, GO_ON, 0.15, 0.2, 0.3})
HARM = 0.3  # of the run's range: what a false stop is held to cost beyond its regret, when a bar is chosen


def tables(score: Any, truths: dict[str, Any], answers: dict[str, Given]) -> Iterator[Table]:
    if any(SMOOTHED in truth.kind for _, truth in truths.values()):
        yield _edge(score, truths, answers)
    ours = answers["leadline"]
    told = f"In the product {STOP:g} at once, {GO_ON:g} where it has lasted."
    yield _bars("The stop bar", score, truths, ours, BARS, _stopped, told)
    told += f" Here the look before is asked, as the product asks itself; {STOP:g} is no second bar."
    yield _bars("The bar for a chance that has lasted", score, truths, ours, LASTING, _lasted, told)


def without_the_edge(truth: Any) -> Any:
    """The same truth, its last points not counted where it is a smoothed series."""
    if SMOOTHED not in truth.kind:
        return truth
    inner = copy.copy(truth)
    count = max(round(len(truth.v) * (1 - EDGE)), 5)
    inner.s, inner.v = truth.s[:count], truth.v[:count]
    inner.max, inner.S = float(inner.v.max()), max(float(np.ptp(inner.v)), 6 * truth.se)
    return inner


def _edge(score: Any, truths: dict[str, Any], answers: dict[str, Given]) -> Table:
    rows = []
    for name, given in answers.items():
        cells = []
        for changed in (lambda truth: truth, without_the_edge):
            scored = [
                {"run": run, "kind": "public", "family": truths[run][0].family}
                | score.score_run(changed(truths[run][1]), _ended(looks))
                for run, looks in given.items()
                if SMOOTHED in truths[run][1].kind
            ]
            figures = score.summary(scored)
            cells += [f"{figures[key]:.3f}" for key in ("U", "regret", "false_stop")]
        rows.append([name, *cells])
    columns = ["policy", "U", "regret", "false", "U without", "regret without", "false without"]
    return Table(f"Public runs, the last {EDGE:.0%} of the smoothed reward not counted", "none", columns, rows)


def _bars(
    title: str,
    score: Any,
    truths: dict[str, Any],
    ours: Given,
    bars: Sequence[float],
    stopped: Callable[[Sequence[Line], float], list[Line]],
    told: str,
) -> Table:
    """U and false stops at every bar, and at the one that all other families would choose."""
    runs = [run for run in ours if run in truths]
    by_bar = {bar: {run: score.score_run(truths[run][1], stopped(ours[run], bar)) for run in runs} for bar in bars}
    sets = sorted({run.split("/")[0] for run in runs})
    rows = [[f"{bar:g}", *_cells(score, truths, by_bar[bar], sets)] for bar in bars]
    families = {run: truths[run][0].family for run in runs}
    left_out: dict[str, Line] = {}
    chosen = []
    for family in sorted(set(families.values())):
        others = [run for run in runs if families[run] != family]
        bar = max(bars, key=lambda bar: _worth(score, truths, by_bar[bar], others))
        chosen.append(bar)
        left_out |= {run: by_bar[bar][run] for run in runs if families[run] == family}
    rows.append(["each family left out", *_cells(score, truths, left_out, sets)])
    counts = ", ".join(f"{bar:g} {chosen.count(bar)} times" for bar in bars if bar in chosen)
    return Table(title, "none", ["stop below", *sets], rows, f"{told} Chosen with a family left out: {counts}.")


def _cells(score: Any, truths: dict[str, Any], scored: dict[str, Line], sets: Sequence[str]) -> list[str]:
    cells = []
    for name in sets:
        figures = score.summary(
            [_row(truths, run, found) for run, found in scored.items() if run.startswith(f"{name}/")]
        )
        cells.append(f"U {figures['U']:.3f}, false {figures['false_stop']:.3f}")
    return cells


def _worth(score: Any, truths: dict[str, Any], scored: dict[str, Line], runs: Sequence[str]) -> float:
    by_set: dict[str, list[Line]] = {}
    for run in runs:
        by_set.setdefault(run.split("/")[0], []).append(_row(truths, run, scored[run]))
    means = [(score.mean(rows, "U")[0], score.mean(rows, "false_stop")[0]) for rows in by_set.values()]
    return float(np.mean([u - HARM * false for u, false in means]))


def _row(truths: dict[str, Any], run: str, found: Line) -> Line:
    return {"run": run, "kind": truths[run][0].kind, "family": truths[run][0].family} | found


def _ended(looks: Sequence[Line]) -> list[Line]:
    return [{**look, "verdict": "stop"} if look["verdict"] == "finished" else look for look in looks]


def _stopped(looks: Sequence[Line], bar: float) -> list[Line]:
    """The looks with a verdict by the number alone."""
    return [{**look, "verdict": "stop" if _below(look, bar) else "undecided"} for look in looks]


def _lasted(looks: Sequence[Line], bar: float) -> list[Line]:
    """The looks with the product's rule and another bar for what has lasted since the look before."""
    given = []
    for before, look in zip([None, *looks], looks, strict=False):
        small = all(then is not None and then["verdict"] != "finished" and _below(then, bar) for then in (before, look))
        lasted = small and look["reason"] not in ("rising", "no_trend")
        goes_on = look["verdict"] == "continue" and not lasted
        stops = not goes_on and (_below(look, STOP) or lasted)
        given.append({**look, "verdict": "stop" if stops else "undecided"})
    return given


def _below(look: Line, bar: float) -> bool:
    p = look["p_continue_pays"]
    return look["verdict"] == "finished" or (p is not None and p < bar)
