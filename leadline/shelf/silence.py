"""When a run counts as silent: asked alike by who watches it and by the shelf, so that both say the same."""

from __future__ import annotations

SILENT = 600.0  # seconds without a new row after which a run that is not at its end counts as silent
SILENT_GAPS = 20.0  # and as many times the usual time between rows
UNKNOWN_GAP = 90.0  # seconds that stand for the usual time between rows where no two were seen


def patience(gap: float | None) -> float:
    """Seconds after its last row from which on a run is silent. `gap`: the usual ones between two.

    >>> patience(None), patience(2.0), patience(60.0)
    (1800.0, 600.0, 1200.0)
    """
    return max(SILENT, SILENT_GAPS * (UNKNOWN_GAP if gap is None else gap))
