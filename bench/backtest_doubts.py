"""Doubts about the figures of bench/backtest.py, each as a table: how much of a public run's loss is the edge of the
score's own smoothing, and whether the two bars of the verdict were chosen on the runs they are shown for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tables import Table

from leadline.judgement.decide import GO_ON, OPEN, STOP

Line = dict[str, Any]
Given = dict[str, list[Line]]

EDGE = 0.03  # share of the run: there a local line has points on one side only, and about twice the error
SMOOTHED = "smoothed"
BARS = sorted({STOP, 0.03, 0.06, 0.12, 0.15, 0.2})
LASTING = sorted({STOP, GO_ON, 0.12, 0.15, 0.2})  # above GO_ON the product gives no reason to end it
HARM = 0.3  # of the run's range: what a false stop is held to cost beyond its regret, when a bar is chosen


def tables(score: Any, truths: dict[str, Any], answers: dict[str, Given]) -> Iterator[Table]:
    if any(SMOOTHED in truth.kind for _, truth in truths.values()):
        yield _edge(score, truths, answers)
    ours = answers["leadline"]
    told = f"In the product {STOP:g} at once, {GO_ON:g} where it has lasted since the look before."
    yield _bars("The stop bar", score, truths, ours, BARS, lambda looks, bar: _ended_by(looks, bar, GO_ON), told)
    yield _bars(
        "The bar for a chance that has lasted",
        score,
        truths,
        ours,
        LASTING,
        lambda looks, bar: _ended_by(looks, STOP, bar),
        told,
    )


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
    smoothed = {run for run, (_, truth) in truths.items() if SMOOTHED in truth.kind}
    for name in sorted({run.partition("/")[0] for run in smoothed}):
        for policy, given in answers.items():
            cells = []
            for changed in (lambda truth: truth, without_the_edge):
                scored = {
                    run: score.score_run(changed(truths[run][1]), looks)
                    for run, looks in given.items()
                    if run in smoothed and run.startswith(f"{name}/")
                }
                figures = score.summary([_row(truths, run, found) for run, found in scored.items()]) if scored else {}
                cells += [f"{figures[key]:.3f}" if figures else "" for key in ("U", "regret", "false_stop")]
            rows.append([name, policy, *cells])
    columns = ["set", "policy", "U", "regret", "false", "U without", "regret without", "false without"]
    return Table(f"The last {EDGE:.0%} of a smoothed reward not counted", "none", columns, rows)


def _bars(
    title: str,
    score: Any,
    truths: dict[str, Any],
    ours: Given,
    bars: Sequence[float],
    stopped: Callable[[Sequence[Line], float], list[Line]],
    told: str,
) -> Table:
    """U and false stops at every bar, and at the one that all other sets would choose; public logs are one set."""
    runs = [run for run in ours if run in truths]
    by_bar = {bar: {run: score.score_run(truths[run][1], stopped(ours[run], bar)) for run in runs} for bar in bars}
    sets = list(dict.fromkeys(run.split("/")[0] for run in runs))
    rows = [[f"{bar:g}", *_cells(score, truths, by_bar[bar], sets)] for bar in bars]
    groups = {run: "public" if truths[run][0].kind == "public" else run.split("/")[0] for run in runs}
    left_out: dict[str, Line] = {}
    chosen = []
    for group in dict.fromkeys(groups.values()):
        others = [run for run in runs if groups[run] != group]
        if others:
            bar = max(bars, key=lambda bar: _worth(score, truths, by_bar[bar], others))
            chosen.append(f"{group} {bar:g}")
            left_out |= {run: by_bar[bar][run] for run in runs if groups[run] == group}
    if left_out:
        rows.append(["each set left out", *_cells(score, truths, left_out, sets)])
    note = f"{told} Chosen with a set left out: {', '.join(chosen)}."
    return Table(title, "none", ["stop below", *sets], rows, note)


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


def _ended_by(looks: Sequence[Line], at_once: float, lasting: float) -> list[Line]:
    """The looks with the product's rule and other bars; roll-backs and stops are one here."""
    given = []
    for before, look in zip([None, *looks], looks, strict=False):
        lasted = look["reason"] != "no_trend" and all(
            then is not None and then["verdict"] != "finished" and _below(then, lasting) for then in (before, look)
        )
        ends = look["reason"] not in OPEN and look["verdict"] != "continue" and (_below(look, at_once) or lasted)
        given.append({**look, "verdict": "stop" if ends else "undecided"})
    return given


def _below(look: Line, bar: float) -> bool:
    p = look["p_continue_pays"]
    return look["verdict"] == "finished" or (p is not None and p < bar)
