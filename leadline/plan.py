"""The run's own clock: how much of it is behind, how much is taken to be ahead, and whether it has ended."""

from __future__ import annotations

from .event import Ended
from .facts.judgement import Ending, PlanSource
from .questions.schedule import end_of
from .records import dataclass, replace
from .run import Run

TOTAL_TIME = "time/total"
RATE = "lr"
EXTENDED = 0.5  # of its length: by so much a finished run is judged as if extended


@dataclass(frozen=True, slots=True)
class Plan:
    """The run's own clock. Spans of the judgement are shares of `steps`, never numbers of looks."""

    first: int
    now: float
    end: int  # up to which going on is judged
    planned: int | None = None  # last step as planned; None: nothing says how long the run is to be
    ended: Ending | None = None  # why the run is taken to be finished
    source: PlanSource | None = None  # who says how long it is to be

    @property
    def steps(self) -> float:
        return float(max(self.end - self.first, 1))

    @property
    def elapsed(self) -> float:
        return min((self.now - self.first) / self.steps, 1.0)

    def share_since(self, step: float) -> float:
        """Return how much of the plan has passed since a step."""
        return (self.now - step) / self.steps

    def earlier(self, share: float) -> Plan:
        """Return the same plan as it stood so much of it ago."""
        return replace(self, now=self.now - share * self.steps)


def plan_of(run: Run, planned: int | None, *, silent: bool = False) -> Plan | None:
    """Return the plan of a run; None if nothing was logged. `planned` is how many steps the user or its settings say it
    has; if neither does, the learning rate may show its end. Without a plan the run is judged as if it went on for as
    long again. A finished run is judged as if extended by half, or to the end of a plan that it has not reached.
    `silent`: its log has long been still."""
    first, now = run.first_step, run.last_step
    if first is None or now is None:
        return None
    source: PlanSource | None = None
    if planned is not None:
        source, planned = "told", planned - run.counts_from_zero
    elif (planned := _scheduled(run, now)) is not None:
        source = "schedule"
    ended = _ended(run, planned, now, source, silent=silent)
    length = max(now - first, 1)
    if ended is not None:
        extended = now + max(round(EXTENDED * length), 1)
        return Plan(first, now, extended if planned is None or planned <= now else planned, planned, ended, source)
    return Plan(first, now, now + length if planned is None else planned, planned, source=source)


def _scheduled(run: Run, now: int) -> int | None:
    """Return the step at which the learning rate runs out; None if nothing shows it, or groups of parameters differ."""
    rates = [series for series in run.series if series.name == RATE or series.name.startswith(f"{RATE}@")]
    ends = {end_of(rate, now) for rate in rates}
    return ends.pop() if len(ends) == 1 else None


def _ended(run: Run, planned: int | None, now: int, source: PlanSource | None, *, silent: bool) -> Ending | None:
    done = planned is not None and now >= planned
    if done and source == "told":
        return "plan"
    over = next((event.facts.because for event in run.events if isinstance(event.facts, Ended)), None)
    if over == "completed" or _has_a_summary(run, now):
        return "trainer"
    if over is not None:
        return "scheduler"
    if done:
        return "schedule"
    return "silent" if silent else None


def _has_a_summary(run: Run, now: int) -> bool:
    """Return whether the trainer wrote how long it took, as it does once at the end. Some write a running clock under
    such a name with every row."""
    summary = run.get(TOTAL_TIME)
    if summary is None or not summary.points or int(summary.steps[-1]) < now:
        return False
    rows = max((series.points for series in (*run.series, *run.unread) if series is not summary), default=0)
    return summary.points < rows / 2
