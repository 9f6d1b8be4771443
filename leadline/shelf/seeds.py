"""Runs that differ by their seed alone and come to different verdicts: a person has to say what that means."""

from __future__ import annotations

from .store import Shelf

GOES_ON, ENDS = "'continue'", "'stop', 'roll_back'"


def compare_seeds(shelf: Shelf) -> None:
    """Note since when the seeds of a variant disagree: while some are worth going on, others are to be ended."""
    apart = (
        "SELECT project, variant FROM runs WHERE seed IS NOT NULL AND vanished_at IS NULL AND ended IS NULL"
        " AND state = 'read' GROUP BY project, variant"
        f" HAVING SUM(CASE WHEN verdict IN ({GOES_ON}) THEN 1 ELSE 0 END) > 0"
        f" AND SUM(CASE WHEN verdict IN ({ENDS}) THEN 1 ELSE 0 END) > 0"
    )
    with shelf.base.writing():
        shelf.base.run(
            f"UPDATE runs SET seeds_at = NULL WHERE seeds_at IS NOT NULL AND (project, variant) NOT IN ({apart})"
        )
        shelf.base.run(
            "UPDATE runs SET seeds_at = COALESCE(seeds_at, ?) WHERE seed IS NOT NULL AND vanished_at IS NULL"
            f" AND ended IS NULL AND (project, variant) IN ({apart})",
            (shelf.base.now(),),
        )
