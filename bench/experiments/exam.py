"""Five classes at SNR 4: which shape is it, where is its peak, where does it go, which checkpoint is best?"""

from __future__ import annotations

import numpy as np
from adapter import Look, five_shape, look
from peers import FORECASTS, piecewise_linear, raw_maximum, smoothed_maximum, unimodal_peak
from shapes import CLASSES, Array, facts
from simulate import PHIS, Simulated, draw_class, generator
from tables import Headline, Record, Table, average, rate, share, where

NAME = "exam"
SNR = 4.0
SIZES = (100, 300, 1000, 5000)
BARS = {100: 0.78, 300: 0.85, 1000: 0.90, 5000: 0.97}
FAMILIES = ("inside", "outside")
AHEAD = (1.5, 2.0)
CHECKPOINTS = np.arange(1, 21) / 20


def jobs(scale: float) -> list[Record]:
    return [
        {"kind": kind, "family": family, "n": n, "phi": phi, "index": i}
        for kind in CLASSES
        for family in FAMILIES
        for n in SIZES
        for phi in PHIS
        for i in range(max(round(scale * 4), 1))
    ]


def score(kind: str, family: str, n: int, phi: float, index: int) -> list[Record]:
    """One series of a known class, put through every question that has an answer for it."""
    rng = generator(3, CLASSES.index(kind), family == "outside", n, round(10 * phi), index)
    series = draw_class(kind, family, n, SNR, phi, rng)
    seen = look(series.values, places=np.concatenate([CHECKPOINTS, AHEAD]))
    record: Record = {"kind": kind, "family": family, "n": n, "phi": phi, "shape": series.truth.name}
    record |= {"word": seen.word, "breaks": len(seen.breaks), "probabilities": seen.probabilities}
    record["said"] = {"Leadline": five_shape(series.values, seen), "piecewise linear": piecewise_linear(series.values)}
    if kind == "peaked":
        record["peak"] = _peak(series, seen)
    if kind != "noise":
        record["forecast"] = _forecast(series, seen)
        record["checkpoint"] = _checkpoint(series, seen)
    return [record]


def _peak(series: Simulated, seen: Look) -> Record:
    """Errors as parts of the run; the engine's are absent where it names no peak."""
    true = facts(series.truth.at).peak_at
    found: Record = {"unimodal": abs(unimodal_peak(series.values) - true)}
    if seen.peak is not None:
        place, low, high = seen.peak
        found |= {"Leadline": abs(place - true), "covered": low <= true <= high, "width": high - low}
    return found


def crps(samples: Array, truth: float) -> float:
    """Continuous ranked probability score of a sample (Gneiting & Raftery 2007)."""
    ordered = np.sort(samples)
    count = ordered.size
    spread = float((2 * np.arange(1, count + 1) - count - 1) @ ordered) / count**2
    return float(np.mean(np.abs(ordered - truth))) - spread


def _forecast(series: Simulated, seen: Look) -> Record:
    """Does the 80 % interval cover the true level, CRPS and width; both in units of the curve's range so far."""
    true = series.true_level(np.array(AHEAD))
    found: Record = {}
    for k, ahead in enumerate(AHEAD):
        paths = seen.paths[:, CHECKPOINTS.size + k]
        low, high = np.quantile(paths, [0.1, 0.9])
        found[f"Leadline {ahead}"] = (bool(low <= true[k] <= high), crps(paths, true[k]) / SNR, float(high - low) / SNR)
    for name, method in FORECASTS.items():
        for k, one in enumerate(method(series.values, np.array(AHEAD))):
            low, high = one.interval()
            score_of = crps(one.samples(), true[k]) / SNR
            found[f"{name} {AHEAD[k]}"] = (bool(low <= true[k] <= high), score_of, (high - low) / SNR)
    return found


def _checkpoint(series: Simulated, seen: Look) -> Record:
    """Regret of the chosen checkpoint and optimism of its estimated level, in noise sd (which is 1)."""
    true = series.true_level(CHECKPOINTS)
    places = np.round(CHECKPOINTS * series.n).astype(int) - 1
    means = seen.paths[:, : CHECKPOINTS.size].mean(axis=0)
    choices = {
        "Leadline": (int(means.argmax()), float(means.max())),
        "raw maximum": raw_maximum(series.values, places),
        "EMA maximum": smoothed_maximum(series.values, places),
    }
    return {name: (float(true.max() - true[k]), level - float(true[k])) for name, (k, level) in choices.items()}


def tables(records: dict[str, list[Record]]) -> list[Table]:
    mine = records[NAME]
    shapes = [*_shape_tables(mine), _confusion(mine)]
    return [*shapes, _peak_table(mine), *_forecast_tables(mine), *_checkpoint_tables(mine)]


def _right(records: list[Record], method: str) -> list[bool]:
    return [record["said"][method] == record["kind"] for record in records]


def _shape_tables(records: list[Record]) -> list[Table]:
    target = "n 100 / 300 / 1000 / 5000: >= .78 / .85 / .90 / .97"
    methods = ("Leadline", "piecewise linear")
    rows = [
        [f"{method}, {family}", *[share(_right(where(records, n=n, family=family), method)) for n in SIZES]]
        for method in methods
        for family in FAMILIES
    ]
    sizes = [f"n {n}" for n in SIZES]
    first = Table("Five-shape accuracy, SNR 4, phi 0 to .9", target, ["method, family", *sizes], rows)
    rows = [
        [f"{method}, phi {phi}", *[share(_right(where(records, n=n, phi=phi), method)) for n in SIZES]]
        for method in methods
        for phi in PHIS
    ]
    second = Table("Five-shape accuracy by phi", target, ["method, phi", *sizes], rows)
    shapes = sorted({(r["kind"], r["family"], r["shape"]) for r in records})
    rows = []
    for kind, family, shape in shapes:
        some = where(records, kind=kind, family=family, shape=shape)
        rows.append([f"{kind}, {family}: {shape}", *[share(_right(some, m)) for m in methods], _mistakes(some)])
    columns = ["shape", *methods, "Leadline said instead"]
    third = Table("Five-shape accuracy by shape, all n and phi", target, columns, rows)
    return [first, second, third]


def _mistakes(records: list[Record]) -> str:
    said = [record["said"]["Leadline"] for record in records if record["said"]["Leadline"] != record["kind"]]
    return ", ".join(f"{word} {said.count(word)}" for word in sorted(set(said))) or "-"


def _confusion(records: list[Record]) -> Table:
    rows = []
    for kind in CLASSES:
        mine = where(records, kind=kind)
        rows.append([kind, *[rate(r["said"]["Leadline"] == said for r in mine) for said in CLASSES], str(len(mine))])
    return Table("Leadline: truth (down) and what it said", "all on the diagonal", ["truth", *CLASSES, "series"], rows)


def _peak_table(records: list[Record]) -> Table:
    rows = []
    for n in (*SIZES, None):
        peaked = [r["peak"] for r in records if r["kind"] == "peaked" and n in (None, r["n"])]
        named = [peak for peak in peaked if "Leadline" in peak]
        rows.append([
            str(n or "all"), share("Leadline" in peak for peak in peaked),
            average(peak["Leadline"] for peak in named), average(peak["unimodal"] for peak in named),
            average(peak["unimodal"] for peak in peaked), share(peak["covered"] for peak in named),
            average(peak["width"] for peak in named),
        ])  # fmt: skip
    columns = ["n", "named", "Leadline error", "unimodal error, same series", "unimodal error, all series",
               "80 % interval covers", "its width"]  # fmt: skip
    return Table("Peak location, parts of the run, SNR 4", "error <= .05; coverage .75 to .95", columns, rows)


def _forecasts(records: list[Record], method: str, ahead: float) -> list[tuple[bool, float, float]]:
    return [record["forecast"][f"{method} {ahead}"] for record in records if "forecast" in record]


def _forecast_row(label: str, records: list[Record], method: str) -> list[str]:
    cells = [label]
    for ahead in AHEAD:
        seen = _forecasts(records, method, ahead)
        cells += [share(one[0] for one in seen), average(one[1] for one in seen), average((one[2] for one in seen), 2)]
    return cells


FORECAST_COLUMNS = [f"{figure} at {ahead}x" for ahead in AHEAD for figure in ("coverage", "CRPS", "width")]
FORECAST_TARGET = "outside: coverage .75 to .92, CRPS below damped ETS and the sigmoid"


def _forecast_tables(records: list[Record]) -> list[Table]:
    methods = ("Leadline", *FORECASTS)
    title = "Forecasts of the true level, in units of the range so far, SNR 4"
    rows = [_forecast_row(f"{m}, {f}", where(records, family=f), m) for f in FAMILIES for m in methods]
    first = Table(title, FORECAST_TARGET, ["method, family", *FORECAST_COLUMNS], rows)
    kinds = [kind for kind in CLASSES if kind != "noise"]
    rows = [
        _forecast_row(f"{kind}, {f}: {m}", where(records, family=f, kind=kind), m)
        for kind in kinds
        for f in FAMILIES
        for m in methods
    ]
    second = Table(f"{title}, by class", FORECAST_TARGET, ["class, family, method", *FORECAST_COLUMNS], rows)
    rows = [_forecast_row(f"n {n}: {m}", where(records, family="outside", n=n), m) for n in SIZES for m in methods]
    third = Table(f"{title}, outside, by n", FORECAST_TARGET, ["n, method", *FORECAST_COLUMNS], rows)
    return [first, second, third]


CHECKPOINT_TARGET = "regret <= .05, optimism <= .1 (raw maximum: .17, 2.1)"


def _checkpoint_row(label: str, records: list[Record], method: str) -> list[str]:
    some = [record["checkpoint"][method] for record in records if "checkpoint" in record]
    return [label, average(one[0] for one in some), average(one[1] for one in some)]


def _checkpoint_tables(records: list[Record]) -> list[Table]:
    methods = ("Leadline", "raw maximum", "EMA maximum")
    columns = ["method", "regret", "optimism"]
    rows = [_checkpoint_row(method, records, method) for method in methods]
    first = Table("Best of 20 checkpoints, in noise sd, SNR 4", CHECKPOINT_TARGET, columns, rows)
    kinds = [(kind, n) for kind in CLASSES if kind != "noise" for n in SIZES]
    rows = [_checkpoint_row(f"{kind}, n {n}", where(records, kind=kind, n=n), "Leadline") for kind, n in kinds]
    second = Table("Leadline's checkpoint, by class and n", CHECKPOINT_TARGET, ["class, n", *columns[1:]], rows)
    return [first, second]


def headlines(records: dict[str, list[Record]]) -> list[Headline]:
    mine = records[NAME]
    found = []
    for n in SIZES:
        for family in (None, "outside"):
            some = [r for r in where(mine, n=n) if family in (None, r["family"])]
            figures = {method: share(_right(some, method)) for method in ("Leadline", "piecewise linear")}
            found.append(Headline(f"five-shape accuracy, n {n}, {family or 'all'}", f">= {BARS[n]:.2f}", figures))
    peaks = [r["peak"] for r in mine if "peak" in r and "Leadline" in r["peak"]]
    errors = {name: average(peak[name] for peak in peaks) for name in ("Leadline", "unimodal")}
    found.append(Headline("peak location error, parts of the run", "<= .05", errors))
    found.append(Headline("peak 80 % interval covers", ".75 to .95", {"Leadline": share(p["covered"] for p in peaks)}))
    for family in reversed(FAMILIES):
        some = where(mine, family=family)
        for ahead in AHEAD:
            seen = {method: _forecasts(some, method, ahead) for method in ("Leadline", *FORECASTS)}
            covers = {method: share(one[0] for one in scores) for method, scores in seen.items()}
            scores = {method: average(one[1] for one in scores) for method, scores in seen.items()}
            found.append(Headline(f"forecast 80 % coverage at {ahead}x, {family}", ".75 to .92 (outside)", covers))
            found.append(Headline(f"forecast CRPS at {ahead}x, {family}", "below ETS and sigmoid (outside)", scores))
    for k, (what, target) in enumerate((("regret", "<= .05"), ("optimism", "<= .1"))):
        some = [r["checkpoint"] for r in mine if "checkpoint" in r]
        methods = ("Leadline", "raw maximum", "EMA maximum")
        figures = {method: average(one[method][k] for one in some) for method in methods}
        found.append(Headline(f"checkpoint {what}, noise sd", target, figures))
    return found
