"""How long a run is to be, from what was printed before it began: a line, an argument, a printed setting."""

from __future__ import annotations

import re

# Settings of a data set or an evaluation also end in "steps"; these are the ones that say how many are trained.
SAYS = re.compile(
    rb"""(?ix) (?<![\w.-])
    (?: (?:total|max|num|number\ of|planned) [\ _-] (?:of[\ _-])?
        (?P<training>(?:training|train|optimization|update|rl|grpo|ppo|policy)[\ _-])? (?:steps|iterations|updates)
      | (?P<of_it>(?:training|train) [\ _-] steps | num_rollout) )
    ["'*]* \s* (?: [:=]+ | \s ) \s* ["']? (?P<steps>\d[\d,_]{0,15}) (?![\d.\w])""",
)
EPOCHS = re.compile(rb"(?<![\w.-])num_train_epochs[\"']?\s*[:=]\s*[\"']?(\d{1,4}(?:\.\d+)?)(?![\d\w])")
FEWEST = 2


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
        for match in SAYS.finditer(text):
            steps = int(match["steps"].replace(b",", b"").replace(b"_", b""))
            if steps >= FEWEST:
                (self._sure if match["training"] or match["of_it"] else self._plain).add(steps)

    @property
    def steps(self) -> int | None:
        """None where it announces none, or several."""
        found = self._sure or self._plain
        return next(iter(found)) if len(found) == 1 else None

    @property
    def epochs(self) -> float | None:
        """How many epochs there are to be; None where it announces none, or several."""
        return next(iter(self._epochs)) if len(self._epochs) == 1 else None
