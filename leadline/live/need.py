"""Which of many runs a person should look at now, and why, in one line a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..report.plain import printable
from ..words.live import age
from .records import Look
from .watched import Watched

VERDICTS = {"roll_back": 0, "stop": 1}  # the most urgent first; silence comes next
SILENT, CRITICAL, CONCERN, NO_LOOK, UNDECIDED, WELL, FINISHED = range(2, 9)


@dataclass(frozen=True, slots=True)
class Need:
    """How much a run needs a person: the smaller, the more."""

    rank: int
    why: str


def need_of(watched: Watched, still: float) -> Need:
    """`still`: seconds since its last row."""
    look = watched.last
    if look is not None and look.verdict in VERDICTS:
        return Need(VERDICTS[look.verdict], look.says)
    if watched.silent:
        return Need(SILENT, f"No row for {age(still)} after step {watched.sighting.current}.")
    if look is None:
        return Need(NO_LOOK, "The first look is being made.")
    for rank, severity in ((CRITICAL, "critical"), (CONCERN, "concern")):
        for finding in _findings(look):
            if finding.get("severity") == severity:
                return Need(rank, str(finding.get("says", "")))
    if look.verdict == "finished":
        return Need(FINISHED, look.says)
    return Need(UNDECIDED if look.verdict == "undecided" else WELL, look.says)


def by_need(runs: Iterable[Watched], now: float, places: Sequence[object] = ()) -> list[tuple[Watched, Need]]:
    """Runs and what each needs, the neediest first; else in the order they were named."""
    needs = [(watched, need_of(watched, max(0.0, now - watched.grown))) for watched in runs]
    order = {id(place): number for number, place in enumerate(places)}

    def urgency(pair: tuple[Watched, Need]) -> tuple[int, int, str]:
        watched, need = pair
        return need.rank, order.get(id(watched.place), len(order)), watched.identity

    return [(watched, Need(need.rank, printable(need.why))) for watched, need in sorted(needs, key=urgency)]


def _findings(look: Look) -> list[Mapping[str, object]]:
    found = json.loads(look.reading).get("findings")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
