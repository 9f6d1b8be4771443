"""Whether the end that a learning rate shows is the planned one: `python bench/schedules.py [FOLDER ...]`.

Every log below the folders whose plan is known and which logs a learning rate is cut at 20, 40 and 70 % of its length
and in whole; what the rate tells there (leadline/questions/schedule.py) is held against the plan. Beside it: the end
that is taken where nothing is known, as long again. Without folders the runs of ../shared are taken; says so and ends
well without them.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from backtest_sets import SHARED
from tables import Table

from leadline.errors import LeadlineError
from leadline.questions.schedule import end_of
from leadline.run import Run, Series
from leadline.sources import open_runs

CUTS = (0.2, 0.4, 0.7, 1.0)
CLOSE = 0.02  # of the planned length


def places(folder: Path) -> Iterator[Path]:
    """What may be a run: the folders of a zoo, or those and the files below the repositories of a set of logs."""
    for below in sorted(path for path in folder.iterdir() if path.is_dir()):
        if (folder / "INDEX.csv").exists():
            yield from sorted(below.iterdir())
        else:
            yield below


def runs(folder: Path) -> Iterator[Run]:
    for place in places(folder):
        try:
            yield from open_runs(place)
        except LeadlineError:
            continue


def kind_of(rate: Series) -> str:
    """What the rate does over the whole log."""
    values = rate.values[rate.finite]
    falls, rises = np.diff(values) < 0, np.diff(values) > 0
    if not falls.any():
        return "never falls"
    if rises[int(np.argmax(falls)) :].any():
        return "falls and comes back"
    told = end_of(rate, int(rate.steps[-1]))
    return "falls otherwise" if told is None else "runs out"


def main(folders: list[Path]) -> None:
    known = [folder for folder in folders if folder.is_dir()]
    if not known:
        print("no runs to look at: pass folders of runs, or put them into ../shared")
        return
    counts: dict[tuple[str, float], Counter[str]] = defaultdict(Counter)
    wrong = []
    for run in (run for folder in known for run in runs(folder)):
        rate, planned, first, last = run.get("lr"), run.config.planned_steps, run.first_step, run.last_step
        if rate is None or planned is None or first is None or last is None or not rate.finite.sum() > 1:
            continue
        kind = kind_of(rate)
        for cut in CUTS:
            step = min(round(first + cut * (planned - first)), last)
            told = end_of(rate.until(step), step)
            off = None if told is None else abs(told - planned) / max(planned - first, 1)
            counts[kind, cut]["silent" if off is None else "right" if off <= CLOSE else "wrong"] += 1
            again = abs(2 * step - first - planned) / max(planned - first, 1)
            counts[kind, cut]["as long again is right"] += again <= CLOSE
            if told is not None and off is not None and off > CLOSE:
                wrong.append(f"{run.path} at step {step}: to {told}, planned {planned}")
    columns = ("rate", "seen", "right", "wrong", "silent", "as long again is right")
    rows = [
        (kind, f"{cut:.0%}", *(str(counts[kind, cut][word]) for word in columns[2:])) for kind, cut in sorted(counts)
    ]
    title = "The planned end from the learning rate, within 2 %"
    print(Table(title, "right or silent", columns, rows, "\n".join(f"wrong: {line}" for line in wrong)).text())


if __name__ == "__main__":
    main([Path(place) for place in sys.argv[1:]] or [SHARED / "zoo", SHARED / "runs"])
