"""Samples in place of a log: where nobody logged numbers, the mean score of each step's samples is the curve."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from ..digits import exact_sum
from . import rollouts
from .carrier import Carrier
from .source import Log
from .table import Table

NAME = "samples"
FEWEST = 3  # steps: fewer are no curve
MOST = 20_000


def carried(files: Sequence[Path]) -> Carrier | None:
    """The curve in the samples among `files`, as a log; None where there is none in them."""
    kept = rollouts.find(files)
    log = _log(kept)
    if log is None or not isinstance(kept.rollouts, rollouts.SampleFiles):
        return None
    place = next(iter(kept.rollouts.files))
    return Carrier(NAME, place.absolute(), log, place.stat().st_mtime)


def _log(kept: rollouts.KeptSamples) -> Log | None:
    table = Table()
    before = "eval/" if kept.held_out else ""
    counts = []
    for step in kept.rollouts.steps[:MOST]:
        scores = [sample.score for sample in kept.rollouts.at(step) if math.isfinite(sample.score)]
        if scores:
            mean = exact_sum(scores) / len(scores)
            spread = {f"{before}{kept.score}_std": statistics.pstdev(scores)} if len(scores) > 1 else {}
            table.add(step, {f"{before}{kept.score}": mean, **spread})
            counts.append(len(scores))
    if len(counts) < FEWEST:
        return None
    note = (
        f"no log of numbers was found: {kept.score} is the mean over the samples of each step, "
        f"{int(statistics.median(counts))} of them as a rule"
    )
    return Log(table, counts_rows=kept.in_order, notes=(note,))
