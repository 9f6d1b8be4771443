"""Any curve, any noise, borderline ones included: are statements as often true as their probability says?"""

from __future__ import annotations

import numpy as np
from adapter import BAR, RISING, Look, look
from shapes import Facts, draw_any, facts, null
from simulate import ODD_NOISES, PHIS, generator, observe
from tables import Headline, Record, Table, average, share, where

from leadline.questions.shape import BENDS

NAME = "calibration"
TITLE = "Statements said with p > .9 that are true"
TARGET = ">= .95"
EDGES = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001])


def jobs(scale: float) -> list[Record]:
    kinds = ("null", "inside", "inside", "outside", "outside", "outside")
    return [{"family": kinds[i % len(kinds)], "index": i} for i in range(round(scale * 720))]


def score(family: str, index: int) -> list[Record]:
    """One series of random length, strength and noise; one record for each statement about it."""
    rng = generator(4, index)
    n = round(float(np.exp(rng.uniform(np.log(30), np.log(20000)))))
    snr, phi = float(rng.choice([1.0, 2.0, 4.0, 8.0])), float(rng.choice(PHIS))
    noise = str(rng.choice(ODD_NOISES)) if rng.random() < 0.25 else "ar1"
    truth = null() if family == "null" else draw_any(family, rng)
    series = observe(truth, n, snr, phi, rng, noise)
    seen = look(series.values)
    about = {"family": family, "shape": truth.name, "n": n, "snr": snr, "phi": phi, "noise": noise, "word": seen.word}
    true = facts(truth.at)
    said = [
        {**about, "statement": name, "p": p, "true": is_true}
        for name, (p, is_true) in statements(seen, true, family == "null").items()
    ]
    return [*said, {**about, "statement": "word", "p": 1.0, "true": word_holds(seen.word, true, family == "null")}]


def statements(seen: Look, true: Facts, empty: bool) -> dict[str, tuple[float, bool]]:
    """Each statement's probability and whether it holds of the truth."""
    return {
        "rising": (seen.up, true.state == "rising"),
        "declining or peaked": (seen.down, true.state in ("declining", "peaked")),
        "flat or noise": (seen.share("flat", "noise"), true.state == "flat"),
        "noise": (seen.share("noise"), empty),
        "peaked": (seen.share("peaked"), true.state == "peaked"),
        "accelerating": (seen.share("accelerating"), true.state == "rising" and true.bend > BENDS),
        "decelerating": (seen.share("decelerating"), true.state == "rising" and true.bend < -BENDS),
    }


def word_holds(word: str, true: Facts, empty: bool) -> bool | None:
    """Whether the word spoken holds of the truth; None where nothing was said."""
    if word == "undecided":
        return None
    if word in RISING:
        bends = {"accelerating": true.bend > 0, "decelerating": true.bend < 0, "rising": True}
        return true.state == "rising" and bends[word]
    if word in ("declining", "peaked"):
        return true.state == word
    return empty if word == "noise" else true.state == "flat"


def _statements(records: list[Record]) -> list[Record]:
    return [record for record in records if record["statement"] != "word"]


def tables(records: dict[str, list[Record]]) -> list[Table]:
    mine = _statements(records[NAME])
    sure = [record for record in mine if record["p"] > 0.9]
    kinds = ("null", "inside", "outside")
    names = list(dict.fromkeys(record["statement"] for record in mine))
    rows = []
    for name in (*names, None):
        some = [record for record in sure if name in (None, record["statement"])]
        by_kind = [share(r["true"] for r in where(some, family=kind)) for kind in kinds]
        rows.append([name or "all", *by_kind, share(r["true"] for r in some)])
    first = Table(TITLE, TARGET, ["statement", *[f"truth {kind}" for kind in kinds], "all"], rows)
    return [first, _bins(mine), _words(records[NAME]), _wrong(sure)]


def bins(records: list[Record]) -> list[tuple[float, float, int, int]]:
    """Per bin of p: mean p, share true, how many true, how many said."""
    p = np.array([record["p"] for record in records], dtype=float)
    true = np.array([bool(record["true"]) for record in records])
    place = np.digitize(p, EDGES) - 1
    found = []
    for k in range(EDGES.size - 1):
        inside = place == k
        if inside.any():
            hits, count = int(true[inside].sum()), int(inside.sum())
            found.append((float(p[inside].mean()), hits / count, hits, count))
    return found


def _bins(records: list[Record]) -> Table:
    rows = [[f"{said:.3f}", f"{held:.3f} ({hits}/{count})"] for said, held, hits, count in bins(records)]
    return Table("Reliability, all statements", "the two columns agree", ["mean p in bin", "share true"], rows)


def _words(records: list[Record]) -> Table:
    spoken = [record for record in records if record["statement"] == "word"]
    rows = []
    for word in sorted({record["word"] for record in spoken}):
        some = where(spoken, word=word)
        holds = "-" if word == "undecided" else share(record["true"] for record in some)
        rows.append([word, str(len(some)), holds, average((record["n"] for record in some), 0)])
    note = f"The bar for a word is {BAR}. A word about bend (accelerating, decelerating) must also have the bend right."
    return Table("Words spoken, and how often they hold", TARGET, ["word", "times", "holds", "mean n"], rows, note)


def _wrong(sure: list[Record]) -> Table:
    """Every confident falsehood, so that the cause can be looked for."""
    rows = [
        [str(record[key]) for key in ("statement", "shape", "n", "snr", "phi", "noise")] + [f"{record['p']:.3f}"]
        for record in sorted(sure, key=lambda record: str(record["statement"]))
        if not record["true"]
    ]
    columns = ["statement", "truth", "n", "SNR", "phi", "noise", "p"]
    return Table("Statements with p > .9 that are false", "few", columns, rows[:60], f"{len(rows)} in all.")


def headlines(records: dict[str, list[Record]]) -> list[Headline]:
    sure = [record for record in _statements(records[NAME]) if record["p"] > 0.9]
    found = [Headline(f"{TITLE}, every statement", TARGET, {"Leadline": share(r["true"] for r in sure)})]
    moving = [record for record in sure if record["statement"] in ("rising", "declining or peaked")]
    found.append(Headline(f"{TITLE}, direction only", TARGET, {"Leadline": share(r["true"] for r in moving)}))
    spoken = [r for r in records[NAME] if r["statement"] == "word" and r["word"] != "undecided"]
    found.append(Headline("words spoken that hold", TARGET, {"Leadline": share(r["true"] for r in spoken)}))
    return found
