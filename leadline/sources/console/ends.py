"""How a run ended, from what a scheduler or the trainer printed last."""

from __future__ import annotations

import re

from ...event import Because

TAIL = 1 << 16  # bytes at the end of a log in which an end is looked for
# The surest first: a job that ran out of time is also called cancelled.
SAYS: tuple[tuple[Because, re.Pattern[bytes]], ...] = (
    ("time_limit", re.compile(rb"CANCELLED AT .*DUE TO TIME LIMIT|^State: TIMEOUT\b", re.MULTILINE)),
    ("preempted", re.compile(rb"CANCELLED AT .*DUE TO PREEMPTION|^State: PREEMPTED\b", re.MULTILINE)),
    (
        "out_of_memory",
        re.compile(rb"oom[-_]kill event|by the cgroup out-of-memory handler|^State: OUT_OF_MEMORY\b", re.MULTILINE),
    ),
    ("cancelled", re.compile(rb"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT|^State: CANCELLED\b", re.MULTILINE)),
    (
        "completed",
        re.compile(
            rb"(?i)(?:^|[\]:|>=#*\-]\s*)training (?:is |has )?(?:complete[d]?|finished|done)\b|\bfinished training\b",
            re.MULTILINE,
        ),
    ),
)


class Ends:
    """The end that a log announces, piece by piece.

    >>> ends = Ends()
    >>> ends.hear(b"step 3 reward 0.5" + bytes([10]) + b"*** JOB 7 ON n1 CANCELLED AT 10:46 DUE TO TIME LIMIT ***")
    >>> ends.found()[0]
    'time_limit'
    """

    def __init__(self) -> None:
        self._tail = b""

    def hear(self, chunk: bytes) -> None:
        self._tail = chunk[-TAIL:] if len(chunk) >= TAIL else (self._tail + chunk)[-TAIL:]

    def found(self) -> tuple[Because, bytes] | None:
        """Why the run ended, and all that was printed afterwards; None where nothing says that it did."""
        for because, says in SAYS:
            if heard := list(says.finditer(self._tail)):
                return because, self._tail[heard[-1].end() :]
        return None
