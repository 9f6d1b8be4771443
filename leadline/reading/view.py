"""What every finding looks at: the part of the run that counts, each series together with its curve."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ..facts.finding import SAID, Meanwhile
from ..plan import Plan
from ..questions.direction import NetChange, net_change
from ..questions.fall import p_fallen
from ..questions.shape import Shape, shape_of
from ..records import dataclass, field
from ..run import HEADLINE as HEADLINE
from ..run import Run, Series
from ..text.sampler import Batch
from .outage import Outage
from .stretch import Stretch, current, stretch_of
from .whole import Made, Trace, Whole


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
