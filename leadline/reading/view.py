"""What every finding looks at: the part of the run that counts, each series together with its curve.

It begins where the training reward last stepped to another level for a reason outside the policy. Levels before such a
step belong to another task, reward function, or log: to be below them is no loss, to go back to them no gain.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts.finding import Cause, Meanwhile
from ..facts.judgement import NewStretch
from ..plan import Plan
from ..questions.direction import way_of
from ..questions.fall import fall_of, p_fallen
from ..questions.level import Trace
from ..records import dataclass, field
from ..run import REWARD, Run, Series
from .breaks import breaks_of
from .outage import Outage
from .whole import Whole, asked_once


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One run as findings see it. `of` gives the part of a series that can be compared with now; a finding that needs
    more asks `whole`."""

    run: Run
    plan: Plan | None = None  # how long the run is to be, and whether it has ended
    outages: tuple[Outage, ...] = ()  # steps at which nothing was scored: their rewards are not in the run
    whole: Whole = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", Whole(self.run, self.plan))

    @property
    def stretch(self) -> Stretch:
        """The stretch of the run that counts."""
        return current(self.whole)

    def of(self, wanted: str | Series | None) -> Trace | None:
        """Return the part of a series that counts, logged or derived, with its curve; None if no number is in it."""
        series = self.run.get(wanted) if isinstance(wanted, str) else wanted
        first = None if series is None else stretch_of(self.whole, series.name).first
        if series is None or first is None:
            return self.whole.of(wanted)
        return self.whole.once(("part", wanted), lambda: self.whole.of(series.since(first)))

    def readable(self, wanted: str | Series | None) -> Trace | None:
        """Return that part if it holds points enough to tell movement from noise."""
        part = self.of(wanted)
        return part if part is not None and part.curve.decidable else None

    @property
    def meanwhile(self) -> Meanwhile:
        """What the reward did over that part; None if it can't be read, or moved and came back."""
        reward = self.readable(REWARD)
        if reward is None:
            return None
        way = way_of(reward.curve)
        if way in ("rose", "fell"):
            return way
        return None if reward.curve.breaks or p_fallen(reward.curve) > 0.5 else "unclear"

    def names(self, wanted: Callable[[str], object]) -> tuple[str, ...]:
        """Return the canonical names of logged series that are wanted, in the dialect's order."""
        return tuple(series.name for series in self.run.series if wanted(series.name))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of the run whose levels can be compared with that of now."""

    first: float | None = None  # its first step; None: all of the run
    why: Cause | None = None  # what began it

    @property
    def since(self) -> int | None:
        """Its first step as it is reported, if that is not the run's."""
        return None if self.first is None else round(self.first)

    @property
    def because(self) -> NewStretch | None:
        """What began it, as it is reported."""
        if self.why is None:
            return None
        return "prompts" if self.why.kind == "prompts" else "event" if self.why.kind == "event" else "outside"


WHOLE_RUN = Stretch()


def stretch_of(whole: Whole, name: str) -> Stretch:
    """Return the stretch that counts of a series. A held-out score has prompts of its own: it counts whole, unless it
    stepped where the training reward did."""
    stretch = current(whole)
    if stretch.first is None or not name.startswith("eval/"):
        return stretch
    score = whole.of(name)
    found = () if score is None else score.curve.breaks
    return stretch if any(one.interval[0] <= stretch.first <= one.interval[1] for one in found) else WHOLE_RUN


@asked_once
def current(whole: Whole) -> Stretch:
    """Return the stretch that counts now."""
    outside = [Stretch(broke.found.step, broke.cause) for broke in breaks_of(whole) if broke.from_outside]
    return max((*outside, *_slid(whole)), key=lambda stretch: stretch.first or 0.0, default=WHOLE_RUN)


def _slid(whole: Whole) -> tuple[Stretch, ...]:
    """Return where a reward fell after its prompts changed, at once or by and by: more than half of the fall came
    after."""
    reward = whole.of(REWARD)
    if reward is None or p_fallen(reward.curve) <= 0.5:
        return ()
    fall = fall_of(reward)
    if fall is None:
        return ()
    half = (fall.high + fall.now) / 2
    changes = [change for change in whole.prompt_changes if change.after >= fall.summit_step]
    return tuple(
        Stretch(float(change.after), Cause("prompts", prompts=change))
        for change in changes
        if reward.at(change.before) > half
    )
