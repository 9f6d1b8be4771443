"""What a practitioner looks at, one module each, and which series it takes."""

from __future__ import annotations

from ..run import Run, Series
from .finding import Evidence, Finding
from .missing import Missing, missing

__all__ = ["Evidence", "Finding", "Missing", "missing", "series_to_read"]


def series_to_read(run: Run) -> tuple[Series, ...]:
    """The series that some reading asks about; fitting the others would cost time and change nothing."""
    return tuple(series for series in run.series if _is_reward(series.name))


def _is_reward(name: str) -> bool:
    """The training reward, its components and held-out scores; not spreads, extremes or rewards after KL."""
    plain = name.partition("@")[0] if not name.startswith("eval/") else name  # in verl's eval names @ counts samples
    if plain == "reward/mean":
        return True
    if plain.startswith("reward/component/"):
        return plain.endswith("/mean")
    return plain.startswith("eval/") and ("/reward/" in plain or "/acc/" in plain) and not plain.endswith("std")
