"""What the grammars of a console share. Each is one way in which trainers print a row, and names the bytes without
which no line is its own, so that the rest of a large log need not be looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from .pieces import counted, pieces
from .rows import Rows

NUMBER = r"[-+]?(?:\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf|NaN|Infinity)"
WRAPPED = rf"(?:(?:np|numpy|torch)\.)?(?:float|int|tensor)\w*\(\s*{NUMBER}[^()]*\)|{NUMBER}"
METRIC = re.compile(
    r"reward|(?<![a-z])rew(?![a-z])|return|score|loss|(?<![a-z])kl|acc|entropy|success|solve|grad"
    r"|(?<![a-z])win(?:ning)?[\s_-]?(?:rate|ratio)",
    re.IGNORECASE,
)


class Grammar(Protocol):
    @property
    def marks(self) -> tuple[bytes, ...]:
        """A line of this grammar holds one of these."""

    def take(self, line: str, rows: Rows) -> bool:
        """Whether the line was understood; what it holds is then filed."""


def counted_step(text: str) -> int | None:
    """The step that a piece of text names, "Epoch 1/3 Step 12/400" being step 12; None when it names none."""
    count = counted(pieces(text))
    return None if count is None else count.step


def has_metric(values: Mapping[str, object]) -> bool:
    """Whether some key can be that of a metric one would log."""
    return any(METRIC.search(key) for key in values)
