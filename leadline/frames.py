"""A reading as columns, and as frames if pandas or polars is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from .arguments import check_choice
from .contract import Reading
from .errors import need
from .questions.shape import WORDS, shape_of
from .reading.view import View

Frame: TypeAlias = Any  # pandas.DataFrame or polars.DataFrame; neither need be installed, for us or for mypy
What = Literal["series", "shapes", "findings"]
Columns = Mapping[str, "list[object] | NDArray[Any]"]


def columns(reading: Reading, view: View, what: What) -> Columns:
    """Return the series side by side by step, what each curve does, or the findings, one entry a row."""
    check_choice("what", what, get_args(What))
    if what == "shapes":
        return _shapes(reading, view)
    return _series(reading) if what == "series" else _findings(reading)


def to_pandas(reading: Reading, view: View, what: What) -> Frame:
    frame = need("pandas", extra="pandas", to="make a pandas frame").DataFrame(dict(columns(reading, view, what)))
    return frame.set_index("step") if what == "series" else frame


def to_polars(reading: Reading, view: View, what: What) -> Frame:
    return need("polars", extra="polars", to="make a polars frame").DataFrame(dict(columns(reading, view, what)))


def _series(reading: Reading) -> Columns:
    every = reading.chart_data.series
    steps = np.unique(np.concatenate([one.steps for one in every.values()] or [np.empty(0, dtype=np.int64)]))
    spread = {name: np.full(len(steps), np.nan) for name in every}
    for name, one in every.items():
        spread[name][np.searchsorted(steps, one.steps)] = one.values
    return {"step": steps} | spread


def _shapes(reading: Reading, view: View) -> Columns:
    parts = [part for series in reading.chart_data.series.values() if (part := view.of(series)) is not None]
    shapes = [shape_of(part) for part in parts]
    words: dict[str, list[object]] = {word: [shape.probabilities[word] for shape in shapes] for word in WORDS}
    return {"metric": [part.curve.metric for part in parts], "shape": [shape.word for shape in shapes], **words}


def _findings(reading: Reading) -> Columns:
    rows = reading.findings
    return {
        "id": [one.id for one in rows],
        "severity": [one.severity for one in rows],
        "p": [one.p for one in rows],
        "since_step": [one.since_step for one in rows],
        "says": [one.say() for one in rows],
    }
