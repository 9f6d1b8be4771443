"""Public logs that the score cannot read itself: Leadline's reader hands it the series, nothing else. Which series is
the reward and which the held-out score follows from the score's own names, and from INDEX.csv beside the logs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError
from leadline.run import Run
from leadline.sources import open_run

MOST = 4000  # points of a reward: the score's smoothing takes memory by their square


def names(folder: Path) -> Iterator[str]:
    """The runs of INDEX.csv that lie below the folder, by their places there."""
    for row in _index(folder):
        yield row["place"]


def load(runs: Any, name: str, folder: Path) -> Any:
    """A run as the score wants it; without any points where Leadline finds no reward in it, or too much."""
    place = name.partition("/")[2]
    row = next(row for row in _index(folder) if row["place"] == place)
    try:
        run = open_run(folder / place)
    except LeadlineError:
        run = None
    reward = None if run is None else run.get("reward/mean")
    rows = [] if run is None or reward is None or reward.points > MOST else _rows(run)
    key = None if reward is None else reward.key
    return runs.Run(name, str(folder / place), "public", rows, {"algo": "grpo"}, key, row)


def _rows(run: Run) -> list[dict[str, float]]:
    by: dict[int, dict[str, float]] = {}
    for series in (*run.series, *run.unread):
        for step, value in zip(series.steps[series.finite], series.values[series.finite], strict=True):
            by.setdefault(int(step), {"step": float(step)})[series.key] = float(value)
    return [by[step] for step in sorted(by)]


def _index(folder: Path) -> list[dict[str, str]]:
    with (folder / "INDEX.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        owner = row["repo"].split("/")[0]
        row["place"] = row.get("file") or f"{row['repo'].replace('/', '__')}/{re.sub(f'^{owner}__', '', row['run_id'])}"
    return [row for row in rows if (folder / row["place"]).exists()]
