"""What a console says of the run as a whole: how long it is to be, before it begins, and how it ended."""

from __future__ import annotations

import re

from ...event import Because

# Settings of a data set or an evaluation also end in "steps"; these are the ones that say how many are trained.
PLANNED = re.compile(
    rb"""(?ix) (?<![\w.-])
    (?: (?:total|max|num|number\ of|planned) [\ _-] (?:of[\ _-])?
        (?P<training>(?:training|train|optimization|update|rl|grpo|ppo|policy)[\ _-])? (?:steps|iterations|updates)
      | (?P<of_it>(?:training|train) [\ _-] steps | num_rollout) )
    ["'*]* \s* (?: [:=]+ | \s ) \s* ["']? (?P<steps>\d[\d,_]{0,15}) (?![\d.\w])""",
)
EPOCHS = re.compile(rb"(?<![\w.-])num_train_epochs[\"']?\s*[:=]\s*[\"']?(\d{1,4}(?:\.\d+)?)(?![\d\w])")
FEWEST = 2
TAIL = 1 << 16  # bytes at the end of a log in which an end is looked for
# The surest first: a job that ran out of time is also called cancelled.
ENDED: tuple[tuple[Because, re.Pattern[bytes]], ...] = (
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


class AnnouncedPlan:
    """The number of steps that a console announces, piece by piece.

    >>> plan = AnnouncedPlan()
    >>> plan.hear(b"  'max_steps': 4, warmup_steps=10")
    >>> plan.steps
    4
    >>> plan.hear(b"Total training steps: 700")
    >>> plan.steps
    700
    """

    def __init__(self) -> None:
        self._plain: set[int] = set()
        self._epochs: set[float] = set()
        self._sure: set[int] = set()  # that name the training: `max_steps` alone may be an agent's

    def hear(self, text: bytes) -> None:
        self._epochs |= {float(epochs) for epochs in EPOCHS.findall(text)}
        for match in PLANNED.finditer(text):
            steps = int(match["steps"].replace(b",", b"").replace(b"_", b""))
            if steps >= FEWEST:
                (self._sure if match["training"] or match["of_it"] else self._plain).add(steps)

    @property
    def steps(self) -> int | None:
        """The number of steps; None if it announces none, or several."""
        found = self._sure or self._plain
        return next(iter(found)) if len(found) == 1 else None

    @property
    def epochs(self) -> float | None:
        """The number of epochs; None if it announces none, or several."""
        return next(iter(self._epochs)) if len(self._epochs) == 1 else None


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
        """Return why the run ended and all that was printed afterwards; None if nothing says that it did."""
        for because, says in ENDED:
            if heard := list(says.finditer(self._tail)):
                return because, self._tail[heard[-1].end() :]
        return None
