"""The whole run: the curve of any of its series over all that was logged, and what its samples say, made when first
asked for.

Findings look at a `View`, which hands out the part of the run that counts. The whole is for what decides that part, for
what is drawn, and for the few who say why they ask for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Protocol, TypeVar

from ..curve.curve import Curve
from ..curve.fit import breaks_in, fit_curve
from ..curve.track import Break
from ..plan import Plan
from ..progress import tell
from ..questions.fall import Fall, fall_of
from ..questions.level import level_from, level_now, start_of
from ..records import dataclass, field
from ..run import HEADLINE, Run, Series
from ..text.prompts import ChangeOfPrompts, changes_in
from ..text.sampler import Batch, look

Made = TypeVar("Made")


class Remembers(Protocol):
    """A run that keeps what was made of it: a `Whole`, or the view of one."""

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made: ...


Of = TypeVar("Of", bound=Remembers)


def asked_once(answer: Callable[[Of], Made]) -> Callable[[Of], Made]:
    """Answer a question about a run when it is first asked; every later time the same is said."""

    @wraps(answer)
    def ask(of: Of) -> Made:
        return of.once(answer, lambda: answer(of))

    return ask


REGIME_EVENTS = ("resume", "reference_reset")  # after these a metric may start anew


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """One run, all of it."""

    run: Run
    plan: Plan | None = None  # how long the run is to be, and whether it has ended
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Make what several findings need when it is first asked for. It depends on the run alone, whoever asks."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def of(self, wanted: str | Series | None) -> Trace | None:
        """Return a series, logged or derived, with its curve; None if there is none, or no number in it."""
        series = self.run.get(wanted) if isinstance(wanted, str) else wanted
        if series is None or not series.finite.any():
            return None
        return self.once(("whole", wanted), lambda: self._traced(series))

    @property
    def prompt_changes(self) -> tuple[ChangeOfPrompts, ...]:
        """The sudden changes of the prompts, in order."""
        return self.once("prompts", lambda: changes_in(self.batches))

    def breaks(self, series: Series) -> tuple[Break, ...]:
        """Return the breaks of its curve, for findings that ask for nothing else."""
        return breaks_in(series, breaks=self._events(series))

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The samples looked at, by step."""
        return self.once("batches", lambda: look(self.run.rollouts))

    def _traced(self, series: Series) -> Trace:
        end = None if self.plan is None else self.plan.end
        curve = fit_curve(series, breaks=self._events(series), horizon_step=end)
        fitted = 1 + sum(isinstance(made, Trace) for made in self._made.values())
        tell("fitting curves", fitted, max(len(self.run.series), fitted))
        return Trace(series, curve, self)

    def _events(self, series: Series) -> list[int]:
        """Return steps at which a series may break. A held-out score of few points breaks where the training reward
        did."""
        known = {event.step for event in self.run.events if event.kind in REGIME_EVENTS}
        training = self.of(HEADLINE) if series.name.startswith("eval/") else None
        return sorted(known | ({round(found.step) for found in training.curve.breaks} if training else set()))


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A stretch of a series with the curve of that stretch: what is asked of one is asked of the other."""

    series: Series
    curve: Curve
    _whole: Whole = field(repr=False)

    @property
    def start(self) -> float:
        """Where it started from."""
        return start_of(self.curve, self.series)

    @property
    def now(self) -> float:
        """Where it stands."""
        return level_now(self.curve, self.series)

    @property
    def fall(self) -> Fall | None:
        """What it has lost, and since when."""
        return self._whole.once(("fall", self), lambda: fall_of(self.curve, self.series))

    def at(self, step: float) -> float:
        """Return where it stood at a step: at the first, where it started from."""
        return level_from(self.curve, self.series, step)

    def until(self, step: float) -> Trace | None:
        """Return the same as it stood at a step; None if nothing was logged by then."""
        return self._whole.of(self.series.until(math.floor(step)))
