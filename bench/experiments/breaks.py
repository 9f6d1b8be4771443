"""Several breaks in one series: are they found, how well are they placed, and what is found that is not there?"""

from __future__ import annotations

import numpy as np
from adapter import look
from numpy.random import Generator
from peers import BREAKS
from shapes import Array
from simulate import autoregressive, clock, generator
from tables import Headline, Record, Table, average, share, where

NAME = "breaks"
TITLE = "Two or three breaks in one series"
TARGET = "found and placed; false ones rare"
JUMP = 4.0  # noise sd
NEAR = 0.03  # of the run: closer than this is found
PHIS = (0.0, 0.5, 0.9)
SIZES = (300, 1000, 5000)


def jobs(scale: float) -> list[Record]:
    return [
        {"kind": kind, "n": n, "phi": phi, "index": i}
        for kind in ("steps", "resumes")
        for n in SIZES
        for phi in PHIS
        for i in range(max(round(scale * 10), 1))
    ]


def _places(rng: Generator) -> Array:
    """Two or three places at least a fifth of the run apart."""
    count = int(rng.integers(2, 4))
    while True:
        places = np.sort(rng.uniform(0.15, 0.85, count))
        if np.diff(places).min() >= 0.2:
            return places


def _steps(u: Array, places: Array, rng: Generator) -> Array:
    signs = rng.choice([-1.0, 1.0], places.size)
    return JUMP * ((u[:, None] > places) * signs).sum(axis=1)


def _resumes(u: Array, places: Array) -> Array:
    """A saturating rise that loses 4 sd at each resume and then goes on rising from there."""
    rise = 2 * JUMP * (1 - np.exp(-u / 0.5))
    return rise - JUMP * (u[:, None] > places).sum(axis=1)


def score(kind: str, n: int, phi: float, index: int) -> list[Record]:
    """One series with known breaks, searched by everyone."""
    rng = generator(7, kind == "resumes", n, round(10 * phi), index)
    places, u = _places(rng), clock(n)
    truth = _steps(u, places, rng) if kind == "steps" else _resumes(u, places)
    values = truth + autoregressive(n, phi, rng)
    found = {"Leadline": look(values).breaks, **{name: tuple(find(values)) for name, find in BREAKS.items()}}
    return [
        {"kind": kind, "n": n, "phi": phi, "method": method, **_matched(places, np.array(seen))}
        for method, seen in found.items()
    ]


def _matched(places: Array, seen: Array) -> Record:
    """Each true break takes its nearest finding within reach; the rest of the findings are false."""
    errors, free = [], list(seen)
    for place in places:
        nearest = min(free, key=lambda one: abs(one - place), default=None)
        if nearest is not None and abs(nearest - place) <= NEAR:
            errors.append(float(abs(nearest - place)))
            free.remove(nearest)
    return {"true": len(places), "errors": errors, "false": len(free)}


def _figures(records: list[Record]) -> list[str]:
    hits = sum(len(r["errors"]) for r in records)
    total = sum(r["true"] for r in records)
    return [
        f"{hits / max(total, 1):.2f} ({hits}/{total})",
        average([error for r in records for error in r["errors"]], 4),
        average((float(r["false"]) for r in records), 2),
    ]


def tables(records: dict[str, list[Record]]) -> list[Table]:
    mine = records[NAME]
    methods = ("Leadline", *BREAKS)
    columns = ["found within .03", "error, parts of the run", "false breaks per run"]
    rows = [
        [f"{kind}: {m}", *_figures(where(mine, kind=kind, method=m))] for kind in ("steps", "resumes") for m in methods
    ]
    first = Table(TITLE, TARGET, ["kind, method", *columns], rows)
    ours = where(mine, method="Leadline")
    rows = [[f"n {n}, phi {phi}", *_figures(where(ours, n=n, phi=phi))] for n in SIZES for phi in PHIS]
    second = Table(f"{TITLE}: Leadline by n and phi", TARGET, ["n, phi", *columns], rows)
    exam = [record for record in records.get("exam", []) if record["kind"] in ("rising", "plateau", "peaked")]
    rows = [[k, share(r["breaks"] > 0 for r in where(exam, kind=k))] for k in ("rising", "plateau", "peaked")]
    third = Table("Leadline: breaks named on smooth curves", "none is right", ["class", "series with any"], rows)
    return [first, second, third]


def headlines(records: dict[str, list[Record]]) -> list[Headline]:
    methods = ("Leadline", *BREAKS)
    figures = {m: _figures(where(records[NAME], method=m)) for m in methods}
    return [
        Headline(f"{TITLE}: found", "-", {m: cells[0] for m, cells in figures.items()}),
        Headline(f"{TITLE}: false per run", "-", {m: cells[2] for m, cells in figures.items()}),
    ]
