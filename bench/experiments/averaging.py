"""The same run logged every step, and as means of five steps: does it read the same?"""

from __future__ import annotations

import numpy as np
from adapter import BAR, FALLING, RISING, Look, look
from shapes import draw_any, null
from simulate import PHIS, generator, observe
from tables import Headline, Record, Table, average, share

NAME = "averaging"
TITLE = "Logging every 5-step mean instead of each step"
TARGET = "no word flips unless its p was within .1 of the bar"
EVERY = 5
NEAR = 0.1


def jobs(scale: float) -> list[Record]:
    return [{"n": n, "index": i} for n in (500, 2000, 10000) for i in range(max(round(scale * 40), 3))]


def direction(word: str) -> str:
    """What a word says of the direction: "rising" and "decelerating" do not contradict each other."""
    if word in RISING:
        return "up"
    if word in FALLING:
        return "down"
    return "undecided" if word == "undecided" else "still"


def probability(what: str, seen: Look) -> float:
    return {"up": seen.up, "down": seen.down}.get(what, seen.share("flat", "noise"))


def far_from_bar(said: Look, other: Look) -> bool:
    """Whether a word that the other log does not share was said well above the bar: then it may not flip."""
    what = direction(said.word)
    if what == "undecided":
        return False
    if what != direction(other.word):
        return probability(what, said) > BAR + NEAR
    if what == "up" and said.word != "rising":  # a pace is named when its share of those that rise passes the bar
        return said.share(said.word) / said.up > BAR + NEAR
    return what != "up" and said.share(said.word) - said.share(other.word) > 2 * NEAR


def score(n: int, index: int) -> list[Record]:
    """One run, logged twice."""
    rng = generator(6, n, index)
    phi, family = float(rng.choice(PHIS)), str(rng.choice(["null", "inside", "outside"]))
    truth = null() if family == "null" else draw_any(family, rng)
    values = observe(truth, n, 4.0, phi, rng).values
    fine = look(values)
    coarse = look(values.reshape(-1, EVERY).mean(axis=1), steps=np.arange(EVERY, n + 1, EVERY))
    far = fine.word != coarse.word and (far_from_bar(fine, coarse) or far_from_bar(coarse, fine))
    ways = [direction(one.word) for one in (fine, coarse)]
    gap = max(abs(fine.up - coarse.up), abs(fine.down - coarse.down), abs(fine.share("noise") - coarse.share("noise")))
    about = {"n": n, "phi": phi, "shape": truth.name, "words": (fine.word, coarse.word), "gap": gap}
    flips = {"flipped": fine.word != coarse.word, "direction": ways[0] != ways[1], "turned": {*ways} == {"up", "down"}}
    return [{**about, **flips, "far": far}]


def tables(records: dict[str, list[Record]]) -> list[Table]:
    mine = records[NAME]
    rows = [
        ["any other word", share(r["flipped"] for r in mine)],
        ["... not a near miss", share(r["far"] for r in mine)],
        ["another direction (up, down, still, undecided)", share(r["direction"] for r in mine)],
        ["... not a near miss", share(r["direction"] and r["far"] for r in mine)],
        ["from rising to falling or back", share(r["turned"] for r in mine)],
        ["largest change of p (up, down, noise), mean", average((r["gap"] for r in mine), 3)],
        ["largest change of p, worst series", f"{max((r['gap'] for r in mine), default=0.0):.3f}"],
    ]
    first = Table(TITLE, TARGET, ["what changed", "series"], rows)
    rows = [
        [*r["words"], r["shape"], str(r["n"]), str(r["phi"]), "far" if r["far"] else "near", f"{r['gap']:.3f}"]
        for r in mine
        if r["flipped"]
    ]
    columns = ["each step", "5-step mean", "truth", "n", "phi", "miss", "change of p"]
    return [first, Table("Words that flipped", "near misses only", columns, rows[:40])]


def headlines(records: dict[str, list[Record]]) -> list[Headline]:
    return [Headline(TITLE, TARGET, {"Leadline": share(r["far"] for r in records[NAME])})]
