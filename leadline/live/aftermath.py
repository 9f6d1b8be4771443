"""What came of verdicts: checks with the same verdict in a row, and how the run went on."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..records import dataclass
from .history import Past
from .ledger import RANGE
from .records import Look, Prediction


@dataclass(frozen=True, slots=True)
class Point:
    """Where a run stood at a check."""

    step: int
    verdict: str
    level: float | None  # of the judged series
    judged: str | None
    best_step: int | None
    outcome: str | None = None  # None: a look that an older version made


@dataclass(frozen=True, slots=True)
class Spell:
    """One verdict over consecutive checks, and what came after."""

    at: float
    says: str
    first: Point
    last: Point  # the last look of the spell
    looks: int
    then: Point | None  # the first that differed
    anew: bool = False  # the run was begun anew after it, so nothing came of it
    due: int = 0  # values expected by these looks that have come since
    kept: int = 0  # of them, those within the range that was expected

    @property
    def end(self) -> Point:
        return self.then or self.last


def spells(past: Past, now: Point | None = None) -> tuple[Spell, ...]:
    """Return the verdicts on a run, the latest first. `now`: where it stands if rows came after the last check."""
    runs: list[list[Look]] = []
    for look in past.looks:
        if runs and (runs[-1][-1].verdict, runs[-1][-1].life) == (look.verdict, look.life):
            runs[-1].append(look)
        else:
            runs.append([look])
    found = []
    for place, looks in enumerate(runs):
        later = runs[place + 1][0] if place + 1 < len(runs) else None
        anew = later is not None and later.life != looks[0].life
        last, then = point_of(looks[-1]), None if later is None or anew else point_of(later)
        if later is None and now is not None and now.step > last.step:
            last, then = (now, None) if now.verdict == last.verdict else (last, now)
        due = _due(past.scored, looks)
        kept = sum(RANGE[0] <= one.score.pit <= RANGE[1] for one in due if one.score is not None)
        first = looks[0]
        found.append(Spell(first.at, first.says, point_of(first), last, len(looks), then, anew, len(due), kept))
    return tuple(reversed(found))


def point_of(look: Look) -> Point:
    told = json.loads(look.reading).get("judgement") or {}
    level = (told.get("reason") or {}).get("level")
    return Point(look.step, look.verdict, level, told.get("judged"), look.best_step, told.get("outcome"))


def _due(scored: Sequence[Prediction], looks: Sequence[Look]) -> list[Prediction]:
    """Return the predictions of these checks that were scored."""
    steps = {(look.life, look.step) for look in looks}
    return [one for one in scored if one.score is not None and (one.life, one.made_step) in steps]
