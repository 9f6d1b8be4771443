"""How well the ledger's predictions hold: over what a watch wrote down, or over finished runs replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..errors import BadState, LeadlineError
from ..reading import View
from ..reading.reward import HEADLINE
from ..run import Run
from ..sources import open_runs
from .follow import all_steps
from .ledger import ScoredPrediction, promises, score
from .places import state_files
from .records import Prediction
from .schedule import next_points
from .store import Store

INTERVALS = (0.5, 0.8, 0.9)  # shares of the distribution, about its middle, whose hits are counted
GROUPS = ("reward", "held-out", "KL", "length")
TENTHS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often what was expected came, for one sort of series."""

    sort: str
    runs: int
    predictions: int
    hits: tuple[float, ...]  # share inside each of INTERVALS
    below: float  # mean of where in the distribution it came: .5 when neither too high nor too low
    tenths: tuple[int, ...]  # how many came in each tenth of the distribution


def replayed(run: Run) -> tuple[ScoredPrediction, ...]:
    """The predictions that a watch would have made of a finished run, scored. Nothing leaks back: each is made of the
    run as it stood, and nothing but the ledger's own series is fitted."""
    steps = all_steps(run)
    open_ones: list[Prediction] = []
    outcomes: list[ScoredPrediction] = []
    points = made = 0
    while following := next_points(points, 1):
        points = following[0]
        if points > len(steps):
            break
        seen = run.until(int(steps[points - 1]))
        done = score(open_ones, seen)
        outcomes += done
        past = {one.prediction.id for one in done}
        open_ones = [one for one in open_ones if one.id not in past]
        fresh = [
            Prediction(made + number, 0, 0, 0, one.series, int(steps[points - 1]), one.for_step, one.expects, None)
            for number, one in enumerate(promises(View(seen), points))
        ]
        made += len(fresh)
        open_ones += fresh
    return tuple(outcomes)


def sort_of(series: str) -> str:
    """What a series is to a reader."""
    if series == HEADLINE:
        return "reward"
    return "held-out" if series.startswith("eval/") else "KL" if series.startswith("kl/") else "length"


def calibrations(scored: Sequence[tuple[object, Prediction]]) -> tuple[Calibration, ...]:
    """How well predictions held, by what they were about, all of them last. Each comes with the run it was of."""
    found = [_calibration(sort, [one for one in scored if sort_of(one[1].series) == sort]) for sort in GROUPS]
    return tuple(one for one in (*found, _calibration("all", scored)) if one.predictions)


def _calibration(sort: str, scored: Iterable[tuple[object, Prediction]]) -> Calibration:
    held = [(run, one.score.pit) for run, one in scored if one.score is not None]
    pits = np.array([pit for _, pit in held])
    hits = tuple(float(np.mean(np.abs(pits - 0.5) <= share / 2)) if len(pits) else 0.0 for share in INTERVALS)
    counts = np.bincount(np.minimum((pits * TENTHS).astype(int), TENTHS - 1), minlength=TENTHS)
    return Calibration(
        sort,
        len({run for run, _ in held}),
        len(pits),
        hits,
        float(pits.mean()) if len(pits) else 0.5,
        tuple(counts.tolist()),
    )


def as_data(one: Calibration) -> dict[str, object]:
    """The same as plain data."""
    return {
        "sort": one.sort,
        "runs": one.runs,
        "predictions": one.predictions,
        "inside": {f"{share:g}": round(hit, 4) for share, hit in zip(INTERVALS, one.hits, strict=True)},
        "mean_pit": round(one.below, 4),
        "tenths": list(one.tenths),
    }


def of_watches(state: Path | None = None) -> list[tuple[object, Prediction]]:
    """What watches wrote down and saw come: in one state file, or in all of the user's."""
    files = [state] if state is not None else state_files()
    scored: list[tuple[object, Prediction]] = []
    for file in files:
        try:
            with Store(file, write=False) as store:
                scored += [((str(file), one.run), one) for one in store.scored_predictions()]
        except BadState:
            if state is not None:
                raise
    return scored


def of_finished(
    paths: Sequence[Path],
    *,
    started: Callable[[int], None] = lambda count: None,
    done: Callable[[], None] = lambda: None,
) -> list[tuple[object, Prediction]]:
    """The same for finished runs, replayed. Places where no run can be read are passed over, unless there is no
    other."""
    started(len(paths))
    scored: list[tuple[object, Prediction]] = []
    refused: LeadlineError | None = None
    for path in paths:
        try:
            for run in open_runs(path):
                scored += [(run.path, replace(one.prediction, score=one.score)) for one in replayed(run)]
        except LeadlineError as error:
            refused = error
        done()
    if refused is not None and not scored:
        raise refused
    return scored
