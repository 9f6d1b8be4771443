"""How the fitted numbers of questions/forecast.py and judgement/case.py were found, and how well their probability
holds: `python bench/forecast.py [--out FILE] [--cached]`.

Every run whose score can be believed is cut at every twentieth of its length. At each cut: what the forecast saw, and
whether a clear gain came later. The numbers are fitted by likelihood, each run of the zoos and each public repository
weighing the same and each set as much as the others; every probability that is scored comes from a fit that its own
family or repository had no part in. Needs ../shared; says so and ends well without it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import backtest_sets as sets
import numpy as np
from backtest_tables import gain_came
from numpy.typing import NDArray
from tables import Table

from leadline.judgement import case as outlook
from leadline.judgement.case import SPAN, case_of, held
from leadline.judgement.decide import STOP
from leadline.plan import plan_of
from leadline.questions import forecast as product
from leadline.questions.forecast import LEAST_LEFT, STEEP
from leadline.reading.scores import judged_in
from leadline.reading.view import View

Floats = NDArray[np.float64]

LOOKS = 20
SETS = {"zoo_dev": "zoo", "zoo2_dev": "zoo2", "own": "own", "runs_dev": "public", "logs": "public"}
KINDS = tuple(dict.fromkeys(SETS.values()))
EPSILON = 0.005
RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Cut:
    """One run at one look."""

    run: str
    set: str
    family: str
    unit: str  # what weighs the same: a run of a zoo, a repository
    elapsed: float
    rises: float
    rise: float
    lately: float
    room: float
    came: bool


def cuts_of(job: backtest.Job, set_name: str, family: str, kind: str) -> list[Cut]:
    run, clock = job.open()
    truth = backtest.truth_of(job.run)
    found = []
    for step in job.steps[1:-1]:
        seen = run.until(clock.ours_at(step))
        view = View(seen, plan_of(seen, clock.planned))
        judged = judged_in(view)
        case = None if judged is None else case_of(judged, ())
        if case is not None:
            seen = case.ahead
            unit = family if kind == "public" else job.run
            came = gain_came(truth, step)
            found.append(
                Cut(job.run, set_name, family, unit, seen.elapsed, seen.rises, seen.rise, seen.lately, seen.room, came)
            )
    return found


def features(cuts: Sequence[Cut]) -> Floats:
    rows = [
        (
            math.log(max(1 - cut.elapsed, LEAST_LEFT)),
            min(max(cut.rise, -STEEP), STEEP) / STEEP,
            cut.lately,
        )
        for cut in cuts
    ]
    return np.array(rows)


def probability(weights: Floats, cuts: Sequence[Cut]) -> Floats:
    rises, room = (np.array([getattr(cut, name) for cut in cuts]) for name in ("rises", "room"))
    q = 1 / (1 + np.exp(-features(cuts) @ weights))
    p: Floats = rises + (1 - rises) * room * q
    return p


def fit(cuts: Sequence[Cut]) -> Floats:
    """Damped Newton steps on the penalised likelihood; numerical derivatives are exact enough for three numbers."""
    came, weight = np.array([cut.came for cut in cuts], dtype=float), weights_of(cuts)

    def loss(w: Floats) -> float:
        p = np.clip(probability(w, cuts), EPSILON, 1 - EPSILON)
        likelihood = (weight * (came * np.log(p) + (1 - came) * np.log(1 - p))).sum() / weight.sum()
        return float(-likelihood + RIDGE * (w**2).sum())

    w, step = np.array([product.LEFT, product.RISE, product.STILL]), 0.5
    best = loss(w)
    while step > 0.01:  # pattern search: robust, and three dimensions are few
        moved = False
        for axis in range(len(w)):
            for sign in (1.0, -1.0):
                tried = w.copy()
                tried[axis] += sign * step
                value = loss(tried)
                if value < best - 1e-9:
                    w, best, moved = tried, value, True
        step = step if moved else step / 2
    return w


def weights_of(cuts: Sequence[Cut]) -> Floats:
    per_unit = Counter(cut.unit for cut in cuts)
    units = defaultdict(set)
    for cut in cuts:
        units[cut.set].add(cut.unit)
    return np.array([1 / per_unit[cut.unit] / len(units[cut.set]) for cut in cuts])


def left_out(cuts: Sequence[Cut]) -> tuple[Floats, dict[str, Floats]]:
    p, found = np.zeros(len(cuts)), {}
    for family in sorted({cut.family for cut in cuts}):
        others = [cut for cut in cuts if cut.family != family]
        mine = [place for place, cut in enumerate(cuts) if cut.family == family]
        found[family] = fit(others)
        p[mine] = probability(found[family], [cuts[place] for place in mine])
    return p, found


def said(cuts: Sequence[Cut], p: Floats) -> Floats:
    """What the product says: the answer now with the one a span ago, as `leadline.judgement.case` mixes them."""
    before = _a_span_ago(cuts, p)
    return np.array(
        [now if np.isnan(then) else held(float(now), float(then)) for now, then in zip(p, before, strict=True)]
    )


def mix_left_out(cuts: Sequence[Cut], p: Floats) -> Floats:
    """NOW, HELD and DOUBT as logistic regression finds them, (families, 3), each family left out."""
    before, families = _a_span_ago(cuts, p), np.array([cut.family for cut in cuts])
    known = np.isfinite(before)
    odds = np.column_stack([*(np.log(q / (1 - q)) for q in (np.clip(v, EPSILON, 1 - EPSILON) for v in (p, before)))])
    columns = np.column_stack([odds, np.ones(len(cuts))])
    came, weight = np.array([cut.came for cut in cuts], dtype=float), weights_of(cuts)
    found = []
    for family in sorted(set(families)):
        inside = known & (families != family)
        x, y, w = columns[inside], came[inside], weight[inside] / weight[inside].sum()
        numbers = np.array([outlook.NOW, outlook.HELD, outlook.DOUBT])
        for _ in range(30):  # Newton steps
            q = 1 / (1 + np.exp(-x @ numbers))
            numbers = numbers - np.linalg.solve((x * (w * q * (1 - q))[:, None]).T @ x, x.T @ (w * (q - y)))
        found.append(numbers)
    return np.array(found)


def _a_span_ago(cuts: Sequence[Cut], p: Floats) -> Floats:
    known = {(cut.run, round(cut.elapsed * LOOKS)): value for cut, value in zip(cuts, p, strict=True)}
    return np.array([known.get((cut.run, round((cut.elapsed - SPAN) * LOOKS)), np.nan) for cut in cuts])


def calibration(cuts: Sequence[Cut], p: Floats) -> Table:
    came, weight = np.array([cut.came for cut in cuts], dtype=float), weights_of(cuts)
    rows = []
    for name in KINDS:
        inside = np.array([cut.set == name for cut in cuts])
        if not inside.any():
            continue
        for low in np.arange(0, 1, 0.2):
            fifth = inside & (p >= low) & (p < low + 0.2)
            if fifth.any():
                mean, rate = (float(np.average(values[fifth], weights=weight[fifth])) for values in (p, came))
                runs = len({cut.run for cut, here in zip(cuts, fifth, strict=True) if here})
                rows.append(
                    [
                        name,
                        f"{low:.1f} to {low + 0.2:.1f}",
                        str(int(fifth.sum())),
                        str(runs),
                        f"{mean:.2f}",
                        f"{rate:.2f}",
                        f"{rate - mean:+.2f}",
                    ]
                )
        brier = float(np.average((p[inside] - came[inside]) ** 2, weights=weight[inside]))
        rows.append([name, "Brier score", str(int(inside.sum())), "", "", "", f"{brier:.3f}"])
    return Table(
        "P(a gain is to come), its own family left out",
        "within .08 in every fifth",
        ["set", "said", "looks", "runs", "mean", "came", "apart"],
        rows,
    )


def false_stops(cuts: Sequence[Cut], p: Floats) -> Table:
    rows = []
    for every in (2, 1):
        for name in KINDS:
            ends: dict[str, list[float]] = defaultdict(list)
            stopped: dict[str, bool] = {}
            for cut, value in zip(cuts, p, strict=True):
                if (
                    cut.set == name
                    and round(cut.elapsed * LOOKS) % every == 0
                    and cut.run not in stopped
                    and value < STOP
                ):
                    stopped[cut.run] = cut.came
            units = {cut.run: cut.unit for cut in cuts if cut.set == name}
            for run, unit in units.items():
                ends[unit].append(float(stopped.get(run, False)))
            if ends:
                rate = float(np.mean([np.mean(values) for values in ends.values()]))
                rows.append(
                    [
                        name,
                        f"every {every * 5} %",
                        str(len(units)),
                        f"{rate:.3f}",
                        ", ".join(run.split("/")[-1] for run, came in stopped.items() if came),
                    ]
                )
    return Table(
        "Stopped while a clear gain was still to come", "<= .03", ["set", "looks", "runs", "share", "which"], rows
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=backtest.ROOT / "bench" / "out" / "forecast.jsonl")
    parser.add_argument("--cached", action="store_true", help="use the looks that --out holds")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    if not arguments.cached:
        if not backtest.SHARED.exists():
            print(f"nothing to fit with: {backtest.SHARED} is not on this machine")
            return 0
        jobs = [
            (job, SETS[run.id.split("/")[0]], run.family, run.kind)
            for run, job in backtest.all_jobs(tuple(SETS), LOOKS)
            if sets.sound(run) is not False
        ]
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(arguments.processes) as pool, arguments.out.open("w") as file:
            for found in pool.map(cuts_of, *zip(*jobs, strict=True)):
                file.writelines(json.dumps(asdict(cut)) + "\n" for cut in found)
    cuts = [Cut(**json.loads(line)) for line in arguments.out.read_text().splitlines()]
    p, by_family = left_out(cuts)
    everything = fit(cuts)
    names = ("LEFT", "RISE", "STILL")
    spans = np.array(list(by_family.values()))
    rows = [
        [
            name,
            f"{getattr(product, name):g}",
            f"{everything[place]:.2f}",
            f"{spans[:, place].min():.2f} to {spans[:, place].max():.2f}",
        ]
        for place, name in enumerate(names)
    ]
    mix = mix_left_out(cuts, probability(everything, cuts))
    rows += [
        [name, f"{getattr(outlook, name):g}", "", f"{mix[:, place].min():.2f} to {mix[:, place].max():.2f}"]
        for place, name in enumerate(("NOW", "HELD", "DOUBT"))
    ]
    columns = ["number", "in the product", "fitted on all", "each family left out"]
    print(Table("The fitted numbers", "those in the product", columns, rows).text())
    mixed = said(cuts, p)
    print(calibration(cuts, mixed).text())
    print(false_stops(cuts, mixed).text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
