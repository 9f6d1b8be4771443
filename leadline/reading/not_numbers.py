"""Values that are NaN, infinite or so large that they count as infinite."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import Evidence, Finding, Severity
from ..facts.stability import BadValues, NotNumbers
from ..questions.stuck import trailing
from ..run import Series


def not_numbers(series: Sequence[Series], severity: Severity) -> Finding:
    """One finding for all series that hold such values."""
    bad = tuple(_of(logged) for logged in series)
    first = min(values.first_step for values in bad)
    evidence = tuple(
        Evidence(logged.name, int(logged.steps[~logged.finite][0]), int(logged.steps[~logged.finite][-1]))
        for logged in series
    )
    return Finding("signal.nan", 1.0, severity, since_step=first, evidence=evidence, facts=NotNumbers(first, bad))


def _of(series: Series) -> BadValues:
    bad = ~series.finite
    return BadValues(series.name, int(bad.sum()), series.points, int(series.steps[bad][0]), trailing(series))
