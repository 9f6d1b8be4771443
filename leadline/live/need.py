"""Which of many runs need attention, and why, in one line per run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ..digits import sure
from ..facts.judgement import calls_for
from ..records import dataclass
from ..report.plain import printable
from ..words.live import age
from .records import Look
from .watched import Watched

VERDICTS = {"roll_back": 0, "stop": 1}  # the most urgent first; silence comes next
SILENT, FAILED, CRITICAL, CONCERN, NO_LOOK, UNDECIDED, WELL, FINISHED = range(2, 10)


@dataclass(frozen=True, slots=True)
class Need:
    """How much attention a run needs: the lower the rank, the more."""

    rank: int
    why: str


def need_of(watched: Watched, still: float) -> Need:
    """Return what a run needs. `still`: seconds since its last row."""
    look = watched.last
    if look is not None and look.verdict in VERDICTS:
        return Need(VERDICTS[look.verdict], look.says)
    if watched.silent:
        return Need(SILENT, f"No log rows for {age(still)} after step {watched.sighting.current}.")
    if look is None:
        return Need(NO_LOOK, "First check in progress.")
    if calls_for(look.verdict, look.outcome) != look.verdict:  # it has ended, and badly
        return Need(FAILED, look.says)
    for rank, severity in ((CRITICAL, "critical"), (CONCERN, "concern")):
        for finding in _findings(look):
            if finding.get("severity") == severity:
                return Need(rank, f"{finding.get('says', '')} [{finding.get('id')}, {_sure(finding)}]")
    if look.verdict == "finished":
        return Need(FINISHED, look.says)
    return Need(UNDECIDED if look.verdict == "undecided" else WELL, look.says)


def _sure(finding: Mapping[str, object]) -> str:
    p = finding.get("p")
    return sure(p) if isinstance(p, float | int) else "?"


def by_need(runs: Iterable[Watched], now: float, places: Sequence[object] = ()) -> list[tuple[Watched, Need]]:
    """Return runs and what each needs, the neediest first, then in the order they were named."""
    needs = [(watched, need_of(watched, max(0.0, now - watched.grown))) for watched in runs]
    order = {id(place): number for number, place in enumerate(places)}

    def urgency(pair: tuple[Watched, Need]) -> tuple[int, int, str]:
        watched, need = pair
        return need.rank, order.get(id(watched.place), len(order)), watched.identity

    return [(watched, Need(need.rank, printable(need.why))) for watched, need in sorted(needs, key=urgency)]


def _findings(look: Look) -> list[Mapping[str, object]]:
    found = json.loads(look.reading).get("findings")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
