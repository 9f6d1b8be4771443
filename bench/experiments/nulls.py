"""Noise alone: how often does a reader see a direction, or a break, where there is none?"""

from __future__ import annotations

import numpy as np
from adapter import look
from peers import BREAKS, DIRECTIONS
from simulate import ODD_NOISES, PHIS, SIZES, draw_null, generator
from tables import Headline, Record, Table, grid, share, where

NAME = "nulls"
TITLE = "False direction on noise, at the level the product speaks at"
TARGET = "<= 1 % (peers: 20 to 60 %)"
MATCHED = (0.5, 0.9)  # the phi whose null series also set the thresholds of the power row
METHODS = ("Leadline", *DIRECTIONS)
SINCE = "Leadline, since the start"  # the question a slope test answers; "Leadline" alone asks about now
SLOW = "local linear trend"  # a tenth of a second a fit: it gets every other series


def jobs(scale: float) -> list[Record]:
    plain = [
        {"noise": "ar1", "phi": phi, "n": n, "index": i}
        for phi in PHIS
        for n in SIZES
        for i in range(max(round(scale * 120), 30) if phi in MATCHED else round(scale * 40))
    ]
    odd = [
        {"noise": noise, "phi": phi, "n": n, "index": i}
        for noise in ODD_NOISES
        for phi in MATCHED
        for n in (100, 1000, 5000)
        for i in range(max(round(scale * 14), 1))
    ]
    return plain + odd


def score(noise: str, phi: float, n: int, index: int) -> list[Record]:
    """One null series, read by everyone."""
    kind = ("ar1", *ODD_NOISES).index(noise)
    values = draw_null(n, phi, generator(1, kind, round(10 * phi), n, index), noise).values
    seen = look(values)
    tests = {name: test(values) for name, test in DIRECTIONS.items() if name != SLOW or index % 2 == 0}
    decisions = {"Leadline": seen.spoken, **{name: test.decision for name, test in tests.items()}}
    statistics = {
        "Leadline": seen.statistic,
        SINCE: seen.since_start,
        **{name: test.statistic for name, test in tests.items()},
    }
    found = {"Leadline": len(seen.breaks), **{name: len(find(values)) for name, find in BREAKS.items()}}
    about = {"noise": noise, "phi": phi, "n": n, "word": seen.word, "sure": max(seen.up, seen.down) > 0.95}
    return [{**about, "decisions": decisions, "statistics": statistics, "breaks": found}]


def called(records: list[Record], method: str) -> list[bool]:
    """For each series the method saw: did it claim a direction?"""
    return [record["decisions"][method] != 0 for record in records if method in record["decisions"]]


def thresholds(records: list[Record], phi: float, n: int) -> dict[str, float]:
    """Each method's bar for 5 % false alarms, both directions together, on null series of this phi and n."""
    mine = where(records, noise="ar1", phi=phi, n=n)
    methods = mine[0]["statistics"] if mine else ()
    return {
        method: float(np.quantile([abs(r["statistics"][method]) for r in mine if method in r["statistics"]], 0.95))
        for method in methods
    }


def tables(records: dict[str, list[Record]]) -> list[Table]:
    mine = records[NAME]
    plain = where(mine, noise="ar1")
    columns, rows = grid(plain, "phi", "n", lambda some: share(called(some, "Leadline")))
    found = [Table(f"{TITLE}: Leadline", TARGET, columns, rows, "The same with P > .95 as the bar: " + _sure(plain))]
    by_phi = [[m, *[share(called(where(plain, phi=p), m)) for p in PHIS], share(called(plain, m))] for m in METHODS]
    found.append(Table(f"{TITLE}: by method and phi", TARGET, ["method", *[f"phi {p}" for p in PHIS], "all"], by_phi))
    by_n = [[m, *[share(called(where(plain, n=n), m)) for n in SIZES]] for m in METHODS]
    found.append(Table(f"{TITLE}: by method and n", TARGET, ["method", *[f"n {n}" for n in SIZES]], by_n))
    odd = [[m, *[share(called(where(mine, noise=kind), m)) for kind in ODD_NOISES]] for m in METHODS]
    note = "Student: t, 3 df; spikes: 1-2 % of points 10-15 sd off; growing, shrinking: sd x4; mixed: AR(1) + white."
    found.append(Table(f"{TITLE}: other noise (phi .5 and .9)", TARGET, ["method", *ODD_NOISES], odd, note))
    found.append(_false_breaks(mine))
    return found


def _sure(records: list[Record]) -> str:
    return share(record["sure"] for record in records)


def _false_breaks(records: list[Record]) -> Table:
    plain = where(records, noise="ar1")
    rows = []
    for method in ["Leadline", *BREAKS]:
        cells = [f"{np.mean([r['breaks'][method] for r in where(plain, phi=phi)]):.2f}" for phi in PHIS]
        runs = share(r["breaks"][method] > 0 for r in plain)
        odd = share(r["breaks"][method] > 0 for r in records if r["noise"] != "ar1")
        rows.append([method, *cells, runs, odd])
    columns = ["method", *[f"breaks per run, phi {phi}" for phi in PHIS], "runs with any", "other noise: runs with any"]
    return Table("False breaks on noise", "none is right", columns, rows)


def headlines(records: dict[str, list[Record]]) -> list[Headline]:
    plain = where(records[NAME], noise="ar1")
    figures = {method: share(called(plain, method)) for method in METHODS}
    return [Headline(TITLE, TARGET, figures)]
