"""What every finding looks at: the part of the run that counts, each series together with its curve.

It is the part since the training reward last stepped to another level without the policy having a part in it. Levels
before such a step are of another task, another reward function or another log; nothing is lost against them, and
nothing is won by going back to them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ..facts.finding import SAID, Cause, Meanwhile
from ..plan import Plan
from ..questions.direction import NetChange, net_change
from ..questions.fall import p_fallen
from ..questions.shape import Shape, shape_of
from ..records import dataclass, field
from ..run import HEADLINE as HEADLINE
from ..run import Run, Series
from ..text.sampler import Batch
from .breaks import breaks_of
from .outage import Outage
from .whole import Made, Trace, Whole, asked_once


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One run under the eyes of all findings. `of` gives the part of a series that can be compared with now; who needs
    more says so by `whole`."""

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
        stretch = None if series is None else stretch_of(self.whole, series.name)
        if series is None or stretch is None or stretch.first is None:
            return self.whole.of(wanted)
        return self.once(("part", wanted), lambda: self.whole.of(stretch.of(series)))

    def shape(self, name: str) -> Shape | None:
        """Return what that part does, in one word."""
        part = self.of(name)
        return None if part is None else self.once(("shape", name), lambda: shape_of(part.curve, part.series))

    def change(self, name: str) -> NetChange | None:
        """Return what that part did from its start to now; None if that cannot be told."""
        part = self.of(name)
        return None if part is None else net_change(part.curve)

    @property
    def meanwhile(self) -> Meanwhile:
        """What the reward did over that part: nothing is said of one that moved and came back."""
        reward, change = self.of(HEADLINE), self.change(HEADLINE)
        if reward is None or change is None:
            return None
        did = change.which(SAID)
        return None if did == "unclear" and (reward.curve.breaks or p_fallen(reward.curve) > 0.5) else did

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Make what several findings need when it is first asked for."""
        return self.whole.once(key, make)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The samples looked at, by step."""
        return self.whole.batches

    def names(self, wanted: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the canonical names of logged series that are wanted, in the dialect's order."""
        return tuple(series.name for series in self.run.series if wanted(series.name))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of the run whose levels can be compared with that of now."""

    first: float | None = None  # its first step; None: all of the run
    why: Cause | None = None  # what began it

    def of(self, series: Series) -> Series:
        """Return the part of a series that counts."""
        return series if self.first is None else series.since(self.first)


ALL = Stretch()


def stretch_of(whole: Whole, name: str) -> Stretch:
    """Return the stretch that counts of a series. A held-out score has prompts of its own: it counts whole, unless it
    stepped where the training reward did."""
    stretch = current(whole)
    if stretch.first is None or not name.startswith("eval/"):
        return stretch
    score = whole.of(name)
    found = () if score is None else score.curve.breaks
    return stretch if any(one.interval[0] <= stretch.first <= one.interval[1] for one in found) else ALL


@asked_once
def current(whole: Whole) -> Stretch:
    """Return the stretch that counts now."""
    outside = [
        Stretch(broke.found.step, broke.cause) for broke in breaks_of(whole) if broke.from_outside and not broke.slight
    ]
    return max((*outside, *_slid(whole)), key=lambda stretch: stretch.first or 0.0, default=ALL)


def _slid(whole: Whole) -> tuple[Stretch, ...]:
    """Return where a reward fell after its prompts changed, at once or by and by: more than half of the fall came
    after."""
    reward = whole.of(HEADLINE)
    if reward is None or p_fallen(reward.curve) <= 0.5:
        return ()
    fall = reward.fall
    if fall is None:
        return ()
    half = (fall.high + fall.now) / 2
    changes = [change.prompts for change in whole.prompt_changes if change.prompts.after >= fall.top_step]
    return tuple(
        Stretch(float(change.after), Cause("prompts", prompts=change))
        for change in changes
        if reward.at(change.before) > half
    )
