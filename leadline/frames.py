"""A reading as columns, and as frames where pandas or polars is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from .contract import Reading
from .curve import Curve
from .errors import LeadlineError, need
from .questions import STATEMENTS
from .questions.statement import Statement
from .run import Series

Frame: TypeAlias = Any  # pandas.DataFrame or polars.DataFrame; neither need be installed, for us or for mypy
What = Literal["series", "statements", "findings"]
Columns = Mapping[str, "list[object] | NDArray[Any]"]


def columns(reading: Reading, what: What) -> Columns:
    """The series side by side by step, the statements or the findings, one entry a row."""
    if what not in COLUMNS:
        raise LeadlineError(
            f"There is no frame of {what!r}.",
            tried=", ".join(get_args(What)),
            next_step="ask for one of these, as in reading.to_pandas('findings')",
        )
    return COLUMNS[what](reading)


def to_pandas(reading: Reading, what: What) -> Frame:
    frame = need("pandas", extra="pandas", to="make a pandas frame").DataFrame(dict(columns(reading, what)))
    return frame.set_index("step") if what == "series" else frame


def to_polars(reading: Reading, what: What) -> Frame:
    return need("polars", extra="polars", to="make a polars frame").DataFrame(dict(columns(reading, what)))


def all_series(reading: Reading) -> Mapping[str, Series]:
    """Every series by name: logged, derived from the samples, and what was not understood."""
    return {} if reading.portrait is None else reading.portrait.series


def statements(reading: Reading, name: str | None = None) -> tuple[Statement, ...]:
    """Every question asked of the curve of one series, or of all that hold a number."""
    names = all_series(reading) if name is None else (name,)
    curves = (_curve(reading, one) for one in names)
    return tuple(ask(curve) for curve in curves if curve is not None for ask in STATEMENTS)


def _curve(reading: Reading, name: str) -> Curve | None:
    series, portrait = all_series(reading).get(name), reading.portrait
    if series is None or portrait is None or not series.finite.any():
        return None
    return portrait.view.curve(name) or portrait.view.fit(series)


def _series(reading: Reading) -> Columns:
    every = all_series(reading)
    steps = np.unique(np.concatenate([one.steps for one in every.values()] or [np.empty(0, dtype=np.int64)]))
    return {"step": steps} | {name: _spread(one, steps) for name, one in every.items()}


def _spread(series: Series, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values at these steps, NaN where it has none."""
    spread = np.full(len(steps), np.nan)
    spread[np.searchsorted(steps, series.steps)] = series.values
    return spread


def _statements(reading: Reading) -> Columns:
    rows = statements(reading)
    return {
        "metric": [one.metric for one in rows],
        "claim": [one.claim for one in rows],
        "p": [one.probability for one in rows],
        "from": [None if one.where is None else one.where[0] for one in rows],
        "to": [None if one.where is None else one.where[1] for one in rows],
        "value": [one.value for one in rows],
    }


def _findings(reading: Reading) -> Columns:
    rows = reading.findings
    return {
        "id": [one.id for one in rows],
        "severity": [one.severity for one in rows],
        "p": [one.p for one in rows],
        "since_step": [one.since_step for one in rows],
        "says": [one.says for one in rows],
    }


COLUMNS: Mapping[str, Callable[[Reading], Columns]] = {
    "series": _series,
    "statements": _statements,
    "findings": _findings,
}
