"""The same run read 20 times as it grows: is a decline ever announced that is not there?"""

from __future__ import annotations

import numpy as np
from adapter import look
from peers import DIRECTIONS
from shapes import GRID, Truth, draw_of_class, null
from simulate import generator, observe
from tables import Headline, Record, Table, average, share, where

NAME = "looks"
TITLE = "Repeated looks (20 over a run): a false decline ever announced"
TARGET = "<= 2 % of null runs"
LOOKS = 20
FIRST = 50  # points at the first look; then every look has the same factor more
FAST = ("Newey-West", "EWC", "Hamed-Rao", "TFPW")
PHIS = (0.0, 0.5, 0.9)


def jobs(scale: float) -> list[Record]:
    counts = {"null": round(scale * 36), "rising": round(scale * 10)}
    return [
        {"kind": kind, "phi": phi, "n": 1000 if i % 2 else 4000, "index": i}
        for kind, count in counts.items()
        for phi in PHIS
        for i in range(max(count, 1))
    ]


def _never_falling(rng: np.random.Generator) -> Truth:
    """A rising truth that falls nowhere, so that any decline announced on the way is false."""
    while True:
        truth = draw_of_class("rising", str(rng.choice(["inside", "outside"])), rng)
        if np.all(np.diff(truth.at(GRID)) >= -1e-9):
            return truth


def score(kind: str, phi: float, n: int, index: int) -> list[Record]:
    """One growing run: what each reader ever announced."""
    rng = generator(5, kind == "rising", round(10 * phi), index)
    truth = null() if kind == "null" else _never_falling(rng)
    values = observe(truth, n, 4.0, phi, rng).values
    ends = np.unique(np.round(np.geomspace(FIRST, n, LOOKS)).astype(int))
    seen = [look(values[:end], horizon=1.5) for end in ends]
    said = {"Leadline": [one.spoken for one in seen]}
    said |= {name: [DIRECTIONS[name](values[:end]).decision for end in ends] for name in FAST}
    fell = {name: -1 in words for name, words in said.items()}
    rose = {name: 1 in words for name, words in said.items()}
    first = next((int(end) for end, one in zip(ends, seen, strict=True) if one.spoken == 1), None)
    about = {"kind": kind, "phi": phi, "n": n, "shape": truth.name, "first": first}
    return [{**about, "fell": fell, "rose": rose, "broke": any(one.breaks for one in seen)}]


def tables(records: dict[str, list[Record]]) -> list[Table]:
    found = []
    for kind in ("null", "rising"):
        mine = where(records[NAME], kind=kind)
        rows = []
        for method in ("Leadline", *FAST):
            by_phi = [share(r["fell"][method] for r in where(mine, phi=phi)) for phi in PHIS]
            ever = [share(r[what][method] for r in mine) for what in ("fell", "rose")]
            rows.append([method, *by_phi, *ever])
        columns = ["method", *[f"decline, phi {phi}" for phi in PHIS], "decline, all", "rise, all"]
        note = f"Leadline ever named a break: {share(r['broke'] for r in mine)}."
        if kind == "rising":
            firsts = average([r["first"] / r["n"] for r in mine if r["first"] is not None], 2)
            note += f" First said to rise at {firsts} of the run."
        found.append(Table(f"{TITLE}, {kind} runs", TARGET, columns, rows, note))
    return found


def headlines(records: dict[str, list[Record]]) -> list[Headline]:
    found = []
    for kind in ("null", "rising"):
        mine = where(records[NAME], kind=kind)
        figures = {method: share(r["fell"][method] for r in mine) for method in ("Leadline", *FAST)}
        found.append(Headline(f"{TITLE}, {kind} runs", TARGET, figures))
    return found
