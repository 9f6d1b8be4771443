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
    planned: int | None = None  # as the run or its user says; None: nothing says how long it is to be

    @property
    def steps(self) -> float:
        return float(max(self.end - self.first, 1))

    @property
    def elapsed(self) -> float:
        return min((self.now - self.first) / self.steps, 1.0)

    @property
    def unknown(self) -> bool:
        return self.planned is None

    @property
    def assumed(self) -> bool:
        """No planned end is known, or it is past: going on for as long again is judged."""
        return self.planned is None or self.planned < self.now

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
    end = planned if planned is not None and planned >= now else now + max(now - first, 1)
    return Plan(first, now, end, planned)
