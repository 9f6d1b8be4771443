"""Calibration of predictions: those a watch wrote down, or those of finished runs, replayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.text import Text

from ..errors import LeadlineError
from ..progress import tell
from ..reading.view import View
from ..records import dataclass
from ..report.lines import field
from ..run import REWARD, Run
from ..sources import open_runs
from .follow import all_steps
from .ledger import promises, score
from .records import Prediction
from .schedule import next_points
from .store import stores

INTERVALS = (0.5, 0.8, 0.9)  # shares of the distribution, about its middle, whose hits are counted
GROUPS = ("reward", "held-out", "KL", "length")
TENTHS = 10
BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Hit rates of predictions for one sort of series."""

    sort: str
    runs: int
    predictions: int
    hits: tuple[float, ...]  # share inside each of INTERVALS
    below: float  # mean of where in the distribution it came: .5 when neither too high nor too low
    tenths: tuple[int, ...]  # how many came in each tenth of the distribution


def replayed(run: Run) -> tuple[Prediction, ...]:
    """Return the predictions that a watch would have made of a finished run, scored, each made of the run as it
    stood at that step."""
    steps = all_steps(run)
    waiting: list[Prediction] = []
    scored: list[Prediction] = []
    points = 0
    while following := next_points(points, 1):
        points = following[0]
        if points > len(steps):
            break
        seen = run.until(int(steps[points - 1]))
        done = score(waiting, seen)
        scored += done
        past = {(one.series, one.made_step, one.for_step) for one in done}
        waiting = [one for one in waiting if (one.series, one.made_step, one.for_step) not in past]
        waiting += promises(View(seen), points)
    return tuple(scored)


def sort_of(series: str) -> str:
    """Return the sort of a series, as shown."""
    if series == REWARD:
        return "reward"
    return "held-out" if series.startswith("eval/") else "KL" if series.startswith("kl/") else "length"


def calibrations(scored: Sequence[tuple[object, Prediction]]) -> tuple[Calibration, ...]:
    """Return how well predictions held, by sort, all of them last. Each comes with its run."""
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
    """Return it as plain data."""
    return {
        "sort": one.sort,
        "runs": one.runs,
        "predictions": one.predictions,
        "inside": {f"{share:g}": round(hit, 4) for share, hit in zip(INTERVALS, one.hits, strict=True)},
        "mean_pit": round(one.below, 4),
        "tenths": list(one.tenths),
    }


def of_watches(state: Path | None = None) -> list[tuple[object, Prediction]]:
    """Return the scored predictions in one state file, or in all of the user's."""
    return [((str(store.path), one.run), one) for store in stores(state) for one in store.scored_predictions()]


def of_finished(paths: Sequence[Path]) -> list[tuple[object, Prediction]]:
    """Return the scored predictions of finished runs, replayed. Unreadable places are skipped, unless all are."""
    scored: list[tuple[object, Prediction]] = []
    refused: LeadlineError | None = None
    for number, path in enumerate(paths, 1):
        try:
            for run in open_runs(path):
                scored += [(run.path, one) for one in replayed(run)]
        except LeadlineError as error:
            refused = error
        tell("replaying", number, len(paths))
    if refused is not None and not scored:
        raise refused
    return scored


def calibration_lines(found: Sequence[Calibration]) -> Iterator[tuple[str, Text]]:
    """Yield how often forecasts held, one line per sort of series."""
    if not found:
        yield field("", "No forecast has come due yet.")
        return
    heads = "".join(f"{f'in {share:.0%}':>9}" for share in INTERVALS)
    yield field("", f"{'predictions':>11}{'runs':>6}{heads}   too low … too high", "dim")
    for one in found:
        hits = "".join(f"{hit:>9.0%}" for hit in one.hits)
        yield field(one.sort, f"{one.predictions:>11}{one.runs:>6}{hits}   {_bars(one.tenths)}")
    yield field("", "")
    yield field(
        "",
        "in 80%: share of values inside the 80% forecast interval; 80% is perfect. The bars count values by tenth of"
        " the forecast distribution, lowest first; level bars are perfect.",
        "dim",
    )


def _bars(counts: Sequence[int]) -> str:
    most = max(counts) or 1
    return "".join(BARS[round(count / most * (len(BARS) - 1))] for count in counts)
