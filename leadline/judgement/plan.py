"""How much of the run is behind it, and how much is taken to be ahead."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..run import Run


@dataclass(frozen=True, slots=True)
class Plan:
    """The run's own clock. Spans of the judgement are shares of `steps`, never numbers of looks."""

    first: int
    now: float
    end: int
    assumed: str = ""  # what is taken for granted where the run does not say
    unknown: bool = False  # nothing says how long the run is to be

    @property
    def steps(self) -> float:
        return float(max(self.end - self.first, 1))

    @property
    def elapsed(self) -> float:
        return min((self.now - self.first) / self.steps, 1.0)

    @property
    def over(self) -> bool:
        return self.now >= self.end

    def earlier(self, share: float) -> Plan:
        """The same plan as it stood so much of it ago."""
        return replace(self, now=self.now - share * self.steps)


def plan_of(run: Run, planned: int | None) -> Plan | None:
    """The plan of a run; without one, or past it, it is taken to go on for as long again. None: nothing was logged."""
    first, now = run.first_step, run.last_step
    if first is None or now is None:
        return None
    if planned is not None and planned >= now:
        return Plan(first, now, planned)
    end = now + max(now - first, 1)
    why = "no planned end is known" if planned is None else f"the {planned} planned steps are over"
    return Plan(first, now, end, f"{why}: judged as if it were to go on to step {end}", unknown=planned is None)
