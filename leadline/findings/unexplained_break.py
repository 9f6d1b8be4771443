"""Sudden changes at a step at which nothing is known to have happened and of which no finding speaks."""

from __future__ import annotations

import numpy as np

from ..curve.cells import Break
from ..digits import listed
from ..facts.finding import Evidence, Facts, Finding, Guide, called, sentence_case, shifted_with
from ..questions.level import unlogged
from ..reading.breaks import events_at, everything_at, near
from ..reading.kl import resets_of
from ..reading.view import View
from ..records import dataclass

GUIDE = {
    "unexplained.break": Guide(
        "A metric changed suddenly and the log shows no cause.",
        "A break without a known cause.",
        "Check for outside changes: data, code, machine.",
    ),
}

WATCHED = ("kl/ref", "entropy", "len/response_mean", "grad_norm")  # whose breaks are looked into


@dataclass(frozen=True, slots=True)
class SeriesMove:
    """A series that changed its level."""

    series: str
    rose: bool


@dataclass(frozen=True, slots=True)
class UnexplainedBreak(Facts):
    """Sudden changes at a step at which nothing is known to have happened."""

    step: int
    moves: tuple[SeriesMove, ...]
    shifted: tuple[str, ...]  # what else in the log shifts at that step

    def say(self) -> str:
        moves = listed([f"{called(move.series)} {'jumped' if move.rose else 'dropped'}" for move in self.moves])
        also = f". {shifted_with(self.shifted)}" if self.shifted else ", and no other metric shifts."
        return (
            f"{sentence_case(moves)} at step {self.step}, unexplained: "
            f"no learning-rate change, resume, or reference reset{also}"
        )


def detect_among(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Report breaks that nothing explains; those of several series at one step are told together."""
    reach = near(view.run)
    told = [known.since_step for known in findings if known.since_step is not None]
    told += [*(reset.step for reset in resets_of(view.whole)), *(gap.last + 1 for gap in view.outages)]
    # After a collapse everything jumps about; that needs no explanation of its own.
    ruins = (known.since_step for known in findings if known.severity == "critical" and known.since_step)
    over = min(ruins, default=np.inf)
    found: list[tuple[Break, str]] = []
    for name in WATCHED:
        series = view.run.get(name)
        for new in view.whole.breaks(series) if series is not None and series.finite.any() else ():
            explained = events_at(view.run, new.step) or any(abs(step - new.step) <= reach for step in told)
            if series is not None and not explained and new.step < over and not unlogged(series, new.interval):
                found.append((new, name))  # in a gap of the log nobody saw whether it was sudden
    together: list[list[tuple[Break, str]]] = []
    for new, name in sorted(found, key=lambda item: item[0].step):
        if together and new.step - together[-1][0][0].step <= reach:
            together[-1].append((new, name))
        else:
            together.append([(new, name)])
    return tuple(_broke(view, group) for group in together)


def _broke(view: View, group: list[tuple[Break, str]]) -> Finding:
    step = round(min(found.step for found, _ in group))
    shifted = everything_at(view.whole, step, besides=[name for _, name in group])
    facts = UnexplainedBreak(step, tuple(SeriesMove(name, found.size > 0) for found, name in group), shifted)
    evidence = tuple(Evidence(name, round(found.interval[0]), round(found.interval[1])) for found, name in group)
    p = min(found.probability for found, _ in group)
    return Finding("unexplained.break", round(p, 4), "note", since_step=step, evidence=evidence, facts=facts)
