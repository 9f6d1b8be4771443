"""Values that are NaN, infinite or so large that they count as infinite."""

from __future__ import annotations

from collections.abc import Sequence

from ..digits import listed
from ..facts.finding import Beside, Evidence, Facts, Finding, Guide, Severity, Suspect, called
from ..questions.level import SETTLED, silence
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD, Series

GUIDE = {
    "signal.nan": Guide(
        "A metric contains NaN, Inf, or overflow.",
        "The log.",
        "Find the first affected step; if gradients or loss are affected, roll back to a checkpoint before it.",
    ),
}

WATCHED = ("grad_norm", "loss/policy", "loss/total", "kl/ref", "kl/update", "entropy")


@dataclass(frozen=True, slots=True)
class BadValues:
    """Values of one series that are NaN or infinite."""

    series: str
    bad: int
    points: int
    first_step: int
    trailing: int  # how many of its last values, without a number after them


@dataclass(frozen=True, slots=True)
class NotNumbers(Facts):
    """Series that hold NaN or infinities."""

    first_step: int
    series: tuple[BadValues, ...]

    def say(self) -> str:
        which = ", ".join(f"{called(values.series)} ({values.bad} of {values.points} values)" for values in self.series)
        ended = [values for values in self.series if values.trailing]
        return f"NaN, Inf, or overflow since step {self.first_step}: {which}. {_ended(ended)}"

    def suspect(self, beside: Beside) -> Suspect | None:
        ended = any(values.trailing for values in self.series)  # values that came back need nothing
        return ("learning_rate", "lower", "values became NaN or Inf") if ended else None


def _ended(ended: list[BadValues]) -> str:
    if not ended:
        return "All recovered; bad values are excluded."
    said = listed([f"{called(values.series)} ({_last(values.trailing)})" for values in ended])
    return f"Not recovered: {said}."


def _last(count: int) -> str:
    return "last value" if count == 1 else f"last {count} values"


def detect(view: View) -> tuple[Finding, ...]:
    """Report the reward's own, and one finding for all other watched series. One of those without a single number was
    not computed, and nothing of it stopped; only a loss always is."""
    logged = (series for name in (REWARD, *WATCHED) if (series := view.run.get(name)) is not None)
    odd = {series.name: series for series in logged if not series.finite.all()}
    reward = odd.pop(REWARD, None)
    bad = [series for series in odd.values() if series.finite.any() or "loss/" in series.name]
    found = [] if reward is None else [_finding([reward], "critical" if silence(reward) else "concern")]
    if bad:
        ended = any(not series.finite[-1] for series in bad)
        # A loss scale that finds its size skips steps.
        warming_up = all(series.finite[SETTLED:].all() for series in bad)
        found.append(_finding(bad, "critical" if ended else "note" if warming_up else "concern"))
    return tuple(found)


def _finding(series: Sequence[Series], severity: Severity) -> Finding:
    places = [(logged, logged.steps[~logged.finite]) for logged in series]
    facts = tuple(
        BadValues(logged.name, len(steps), logged.points, int(steps[0]), silence(logged, least=1))
        for logged, steps in places
    )
    first = min(values.first_step for values in facts)
    evidence = tuple(Evidence(logged.name, int(steps[0]), int(steps[-1])) for logged, steps in places)
    return Finding("signal.nan", 1.0, severity, NotNumbers(first, facts), first, evidence)
