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
FEWEST = 2


def planned(text: bytes) -> int | None:
    """The number of steps that a piece of a console announces; None where it announces none, or several.

    >>> planned(b"Total training steps: 700\\n"), planned(b"  'max_steps': 200,"), planned(b"warmup_steps=10")
    (700, 200, None)
    >>> planned(b"'agent': {'max_steps': 4}\\nTotal training steps: 700\\n")
    700
    """
    plain: set[int] = set()
    sure: set[int] = set()  # that name the training: `max_steps` alone may be an agent's
    for match in SAYS.finditer(text):
        steps = int(match["steps"].replace(b",", b"").replace(b"_", b""))
        if steps >= FEWEST:
            (sure if match["training"] or match["of_it"] else plain).add(steps)
    found = sure or plain
    return found.pop() if len(found) == 1 else None
