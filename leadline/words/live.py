"""Sentences of a watch about its own work: a silent run, a path that does not respond, a state file it cannot write."""

from __future__ import annotations

from ..digits import duration

HANGS = "{} has not responded for {}; other runs are still followed."
ANSWERS_AGAIN = "{} responds again."
STATE_NOT_WRITTEN = "Can't write state file {}: {}; retrying."
LOOK_FAILED = "Check of {} failed: {}: {}"
CANNOT_FOLLOW = "Can't follow {}: {}: {}"


def silence(seconds: float, step: int, gap: float | None) -> str:
    """Say that a run has stopped logging.

    >>> silence(660, 40, 12.0), silence(1800, 2, None)
    ('No log rows for 11 min after step 40 (typical: every 12 s).', \
'No log rows for 30 min after step 2 (step time not known yet).')
    """
    if gap is None:
        usual = "step time not known yet"
    else:
        usual = f"typical: every {duration(gap)}" if gap >= 0.5 else "typical: several per second"
    return f"No log rows for {duration(seconds)} after step {step} ({usual})."
