"""Turn what a reader answers into a `Review`."""

from __future__ import annotations

import time
from dataclasses import replace

from ..errors import BadNumber, NothingReadable
from ..run import Grade, Review, Run
from ..words.review import IF_WRONG, UNREADABLE_SAMPLES
from ..words.tools import KEEP_SAMPLES, NO_SAMPLES
from .choose import Sheet, sheet_of
from .grades import decided, parse_grades


def sheet_to_read(run: Run) -> Sheet:
    """Return what to read of a run; raise if it kept nothing that can be read."""
    if not run.rollouts.steps:
        raise NothingReadable(NO_SAMPLES, tried=run.path, next_step=KEEP_SAMPLES)
    sheet = sheet_of(run.rollouts)
    if not sheet.stretches:
        raise NothingReadable(UNREADABLE_SAMPLES, tried=run.path, next_step=KEEP_SAMPLES)
    return sheet


def review_of(
    run: Run,
    *,
    answer: str | None = None,
    since: int | None = None,
    grades: str | None = None,
    reader: str = "",
) -> tuple[Review, str]:
    """Return the review that an answer or grades amount to, given now, of all samples the run holds; of grades also
    why. Grades beside an answer are kept and decide nothing."""
    now, marks = time.time(), tuple[Grade, ...]()
    if grades is not None:
        sheet = sheet_to_read(run)
        marks = parse_grades(grades, sheet.stretches)
        if not marks:
            raise BadNumber("Every grade is ?.", tried=grades[:80], next_step="grade at least one stretch")
        if answer is None:
            review, says = decided(marks, sheet, reader=reader)
            return replace(review, at=now), f"{says} {IF_WRONG}"
    seen = run.rollouts.steps[-1] if run.rollouts.steps else run.last_step or 0
    if answer != "hacked":
        return Review("ok", seen, None, marks, reader, now), ""
    if since is None or not (run.first_step or 0) <= since <= max(seen, run.last_step or 0):
        raise BadNumber(
            "A hacked run needs `since`, a step." if since is None else f"Step {since} is not in this run.",
            tried=f"steps {run.first_step} to {run.last_step}",
            next_step="give the last step before the hacking began",
        )
    return Review("hacked", seen, since, marks, reader, now), ""
